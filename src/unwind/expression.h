// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace blip::unwind {

// A register and an offset; then what is there, if `deref`, and `add`.
struct MemoryPlace {
  uint64_t dwarf_register = 0;
  int64_t offset = 0;
  bool deref = false;
  int64_t add = 0;
};

// Nothing: the expression (DWARF 5, 2.5) is another one.
std::optional<MemoryPlace> as_place(std::span<const uint8_t> expression);

// The expression that linkers write for the PLT: CFA = rsp + offset, and 8 more from byte `pushed_from` of
// each entry of 16 bytes on, where the entry has pushed a number.
struct PltPlace {
  int64_t offset = 0;
  int64_t pushed_from = 0;
};
std::optional<PltPlace> as_plt(std::span<const uint8_t> expression);

}  // namespace blip::unwind
