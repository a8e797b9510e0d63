// SPDX-License-Identifier: MIT
#include "x86/flow/self_branch.h"

#include "x86/decode.h"

namespace blip::x86 {

namespace {

// A direct branch, not a call, from `insn` to the entry; the endbr64 before it leads there too.
bool leads_to_entry(const Insn& insn, TargetAddr function, TargetAddr entry) {
  if (insn.flow != Flow::kJump && insn.flow != Flow::kCondJump) return false;
  return *insn.target >= function && *insn.target <= entry;
}

// True if the bytes at `at`, read as if an instruction began there, could be such a branch. Prefixes do not
// matter.
bool may_lead_to_entry(std::span<const uint8_t> bytes, size_t at, size_t entry) {
  auto back_by = [&](int64_t end, int64_t rel) {
    return end + rel >= 0 && end + rel <= static_cast<int64_t>(entry);
  };
  auto end = static_cast<int64_t>(at);
  if (at + 2 <= bytes.size() && back_by(end + 2, static_cast<int8_t>(bytes[at + 1]))) return true;
  if (at + 5 > bytes.size()) return false;
  uint32_t rel =
      bytes[at + 1] | bytes[at + 2] << 8 | bytes[at + 3] << 16 | static_cast<uint32_t>(bytes[at + 4]) << 24;
  return back_by(end + 5, static_cast<int32_t>(rel));
}

bool is_branch_opcode(uint8_t b) {
  return b == 0xeb || b == 0xe9 || (b & 0xf0) == 0x70 || (b & 0xf0) == 0x80 || (b >= 0xe0 && b <= 0xe3);
}

// A look at every byte offset is much cheaper than decoding and nearly always says no.
bool may_have_self_branch(std::span<const uint8_t> bytes, size_t entry) {
  for (size_t at = 0; at + 1 < bytes.size(); ++at)
    if (is_branch_opcode(bytes[at]) && may_lead_to_entry(bytes, at, entry)) return true;
  return false;
}

}  // namespace

bool has_self_branch(std::span<const uint8_t> bytes, TargetAddr addr, TargetAddr entry) {
  if (!may_have_self_branch(bytes, entry - addr)) return false;
  for (size_t at = 0; at < bytes.size();) {
    auto insn = decode(bytes.subspan(at), addr + at);
    if (!insn || leads_to_entry(*insn, addr, entry)) return true;
    at += insn->length;
  }
  return false;
}

}  // namespace blip::x86
