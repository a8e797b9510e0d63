// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

// The rel32 or disp32 that leads from `next`, the address behind the instruction, to `target`; nothing if too
// far.
inline std::optional<int32_t> displacement(TargetAddr next, TargetAddr target) {
  auto distance = static_cast<int64_t>(target - next);
  if (distance != static_cast<int32_t>(distance)) return std::nullopt;
  return static_cast<int32_t>(distance);
}

// Appends bytes that will lie at a known address.
class CodeWriter {
 public:
  explicit CodeWriter(TargetAddr base) : base_(base) {}

  void u8(uint8_t v) { bytes_.push_back(v); }
  void u8s(std::initializer_list<uint8_t> v) { bytes_.insert(bytes_.end(), v); }
  void u8s(std::span<const uint8_t> v) { bytes_.insert(bytes_.end(), v.begin(), v.end()); }
  void u32(uint32_t v) { put_le(v, 4); }
  void u64(uint64_t v) { put_le(v, 8); }
  // Overwrites four bytes written before.
  void patch_u32(size_t offset, uint32_t v) {
    for (int i = 0; i < 4; ++i) bytes_[offset + i] = static_cast<uint8_t>(v >> (8 * i));
  }

  TargetAddr here() const { return base_ + bytes_.size(); }
  size_t size() const { return bytes_.size(); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  void put_le(uint64_t v, int count) {
    for (int i = 0; i < count; ++i) bytes_.push_back(static_cast<uint8_t>(v >> (8 * i)));
  }

  TargetAddr base_;
  std::vector<uint8_t> bytes_;
};

}  // namespace blip::x86
