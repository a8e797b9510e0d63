// SPDX-License-Identifier: MIT
// Reads numbers out of bytes that may be hostile: past the end there are zeros, and it has failed.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace blip::dwarf {

class Cursor {
 public:
  Cursor(std::span<const uint8_t> bytes, uint64_t at) : bytes_(bytes) { go_to(at); }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == bytes_.size(); }
  uint64_t position() const { return at_; }

  void go_to(uint64_t at) {
    failed_ |= at > bytes_.size();
    at_ = at > bytes_.size() ? bytes_.size() : at;
  }

  void skip(uint64_t size) {
    failed_ |= size > bytes_.size() - at_;
    at_ = failed_ ? bytes_.size() : at_ + size;
  }

  uint32_t word() {
    uint32_t value = 0;
    if (sizeof(value) > bytes_.size() - at_) {
      failed_ = true;
      at_ = bytes_.size();
      return 0;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }

  // Reads a number of 0 to 8 bytes, the lowest byte first.
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    if (size > sizeof(value) || size > bytes_.size() - at_) {
      failed_ = true;
      at_ = bytes_.size();
      return 0;
    }
    std::memcpy(&value, bytes_.data() + at_, size);
    at_ += size;
    return value;
  }

  uint64_t uleb() {
    if (at_ < bytes_.size() && bytes_[at_] < 0x80) return bytes_[at_++];
    uint64_t value = 0;
    for (unsigned shift = 0; at_ < bytes_.size(); shift += 7) {
      const uint8_t byte = bytes_[at_++];
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
    failed_ = true;
    return 0;
  }

  // With its end; empty if it has none.
  const char* text() {
    const void* end = at_end() ? nullptr : std::memchr(bytes_.data() + at_, 0, bytes_.size() - at_);
    if (!end) {
      failed_ = true;
      at_ = bytes_.size();
      return "";
    }
    const char* begin = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ = static_cast<uint64_t>(static_cast<const uint8_t*>(end) - bytes_.data()) + 1;
    return begin;
  }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

}  // namespace blip::dwarf
