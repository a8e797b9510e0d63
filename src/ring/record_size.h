// SPDX-License-Identifier: MIT
// How long the records of a class are, as readers are told by class id: a multiple of 8 up to kMaxRecordSize
// that all have, 0 (an unknown class), or two bounds of what a record's own hit word says.
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace blip::ring {

// Larger than any size, so that the comparison that finds records that do not fit finds these too.
inline constexpr uint32_t kDynamicSize = uint32_t{1} << 31;
inline constexpr unsigned kLeastSizeShift = 16;
inline constexpr uint32_t kMostSizeMask = (1 << kLeastSizeShift) - 1;

constexpr uint32_t dynamic_size(uint32_t least, uint32_t most) {
  return kDynamicSize | least << kLeastSizeShift | most;
}
constexpr bool is_dynamic(uint32_t size) { return (size & kDynamicSize) != 0; }
constexpr uint32_t least_size(uint32_t size) {
  return is_dynamic(size) ? (size & ~kDynamicSize) >> kLeastSizeShift : size;
}
constexpr uint32_t most_size(uint32_t size) { return is_dynamic(size) ? size & kMostSizeMask : size; }

constexpr bool is_valid_size(uint32_t size) {
  const uint32_t least = least_size(size), most = most_size(size);
  if (is_dynamic(size) && (least < abi::kHitWordOffset + abi::kHitWordSize || least > most)) return false;
  return least % abi::kRecordAlign == 0 && most % abi::kRecordAlign == 0 && most <= abi::kMaxRecordSize;
}

// Returns the size that a hit word gives for a record whose class has the size `bounds`; 0 if it cannot be
// true.
constexpr uint32_t size_of_hit(uint64_t untrusted_hit_word, uint32_t bounds) {
  const auto size = static_cast<uint16_t>(untrusted_hit_word);
  const bool possible =
      size >= least_size(bounds) && size <= most_size(bounds) && size % abi::kRecordAlign == 0;
  return possible ? size : 0;
}

}  // namespace blip::ring
