// SPDX-License-Identifier: MIT
// Finds which of its argument registers a function stores in its first instructions. Code that is not
// optimized keeps its arguments there, whatever the calling convention.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace blip::x86 {

struct ArgumentStore {
  int64_t at = 0;  // from rsp as it was at the entry
  uint8_t size = 0;
  uint8_t reg = 0;  // general register, or xmm
  bool is_vector = false;

  bool operator==(const ArgumentStore&) const = default;
};

struct Prologue {
  std::vector<ArgumentStore> stores;  // what the last one left at its place
  std::optional<int64_t> rsp, rbp;    // as they are behind it, from rsp at the entry; none: not known
  // So many bytes of code leave the general register as the caller had it.
  std::array<uint32_t, 16> unchanged{};
};

// `code` begins with the function. It ends at the first instruction that may go elsewhere, or write
// elsewhere.
Prologue argument_stores(std::span<const uint8_t> code);

}  // namespace blip::x86
