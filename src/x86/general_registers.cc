// SPDX-License-Identifier: MIT
#include "x86/general_registers.h"

#include <set>
#include <vector>

#include "x86/decode.h"

namespace blip::x86 {
namespace {

constexpr size_t kMaxInsns = 4096;

bool is_followed(const Insn& insn) {
  switch (insn.flow) {
    case Flow::kIndirectJump:
    case Flow::kIndirectCall:
    case Flow::kOther:
      return false;
    default:
      return !insn.uses_vector;
  }
}

}  // namespace

bool uses_general_registers_only(std::span<const uint8_t> code, TargetAddr base, TargetAddr entry) {
  std::set<TargetAddr> seen{entry};
  std::vector<TargetAddr> pending{entry};
  const auto go = [&](TargetAddr to) {
    if (seen.insert(to).second) pending.push_back(to);
  };
  while (!pending.empty()) {
    const TargetAddr at = pending.back();
    pending.pop_back();
    if (at < base || at - base >= code.size() || seen.size() > kMaxInsns) return false;
    const auto insn = decode(code.subspan(at - base), at);
    if (!insn || !is_followed(*insn)) return false;
    if (insn->target) go(*insn->target);
    if (!insn->ends_flow()) go(insn->end());
  }
  return true;
}

}  // namespace blip::x86
