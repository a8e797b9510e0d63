// SPDX-License-Identifier: MIT
// Pages of a target's memory.
#pragma once

#include <cstdint>

#include "base/addr.h"

namespace blip {

inline constexpr uint64_t kPageSize = 4096;

constexpr uint64_t page_number(TargetAddr a) { return a.value / kPageSize; }
constexpr TargetAddr page_begin(TargetAddr a) { return TargetAddr(a.value / kPageSize * kPageSize); }
// True if the bytes are not all on one page. `size` is not 0.
constexpr bool crosses_page(TargetAddr a, uint64_t size) {
  return page_number(a) != page_number(a + (size - 1));
}

}  // namespace blip
