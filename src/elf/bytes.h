// SPDX-License-Identifier: MIT
// Bounds-checked reading of untrusted bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace blip::elf {

// The T at a byte offset, whatever its alignment.
template <typename T>
std::optional<T> load(std::span<const uint8_t> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Like span::subspan, but cut to the bytes that exist.
inline std::span<const uint8_t> clamped(std::span<const uint8_t> bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

// Longer strings are nobody's names; a limit keeps a hostile file from making a scan of all its names
// quadratic.
constexpr uint64_t kLongestString = 65535;

// The zero-terminated string at an offset; empty when it does not end inside the bytes, or is too long.
inline std::string_view c_string(std::span<const uint8_t> bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes.data() + offset);
  const void* end = std::memchr(begin, 0, std::min<uint64_t>(bytes.size() - offset, kLongestString + 1));
  if (!end) return {};
  return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
}

// Reads forward; after the first read past the end it is not ok() and every read gives zero.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return position_ >= bytes_.size(); }
  uint64_t position() const { return position_; }

  template <typename T>
  T read() {
    auto value = load<T>(bytes_, position_);
    if (!value) return fail(), T{};
    position_ += sizeof(T);
    return *value;
  }

  void skip(uint64_t count) {
    if (count > bytes_.size() - position_) return fail();
    position_ += count;
  }

  // Bits above the 64th are dropped.
  uint64_t uleb128() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto byte = read<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
  }

  int64_t sleb128() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      auto byte = read<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  std::string_view c_string() {
    auto text = elf::c_string(bytes_, position_);
    skip(text.size() + 1);
    return text;
  }

 private:
  void fail() {
    ok_ = false;
    position_ = bytes_.size();
  }

  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;
  bool ok_ = true;
};

}  // namespace blip::elf
