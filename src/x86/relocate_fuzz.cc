// SPDX-License-Identifier: MIT
// Any bytes as a window: refused, or a copy that decodes whole, instruction by instruction, and whose
// branches lead where the originals led.
#include <cstring>

#include "base/check.h"
#include "x86/decode.h"
#include "x86/relocate.h"

namespace {

using namespace blip;
using namespace blip::x86;

constexpr TargetAddr kFrom(0x7f12'3456'7890);

void check_copy(std::span<const uint8_t> window, const Relocated& moved, TargetAddr to) {
  for (size_t i = 0; i < moved.heads.size(); ++i) {
    const auto [offset, copy] = moved.heads[i];
    const size_t next = i + 1 < moved.heads.size() ? moved.heads[i + 1].second : moved.bytes.size();
    CHECK(copy < next);
    const auto original = decode(window.subspan(offset), kFrom + offset);
    CHECK(original.has_value());
    bool leads_there =
        !original->target || *original->target - kFrom < window.size();  // then to the copy's head
    for (size_t at = copy; at < next;) {
      const auto insn = decode(std::span(moved.bytes).subspan(at), to + at);
      CHECK(insn.has_value());
      leads_there |= insn->target == original->target;
      at += insn->length;
      CHECK(at <= next);
    }
    CHECK(leads_there);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int32_t distance = 0;
  if (size < sizeof distance + 1) return 0;
  std::memcpy(&distance, data, sizeof distance);
  const std::span<const uint8_t> window(data + sizeof distance, size - sizeof distance);
  const TargetAddr to = kFrom + static_cast<uint64_t>(int64_t{distance / 2});
  const auto moved = relocate(window, kFrom, to);
  if (moved) check_copy(window, *moved, to);
  return 0;
}
