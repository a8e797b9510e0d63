// SPDX-License-Identifier: MIT
// x87's numbers of 80 bits, which no reader of traces knows. In an event each is a structure of the nearest
// double and of a text with all digits that it has:
//
//   x = { double = 0.1, long_double = "0.1" }
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace blip::ctf {

inline constexpr std::string_view kNearestDouble = "double", kAllDigits = "long_double";
inline constexpr uint32_t kMostDigits = 47;  // with sign, point and exponent

// Reads the ten bytes at `from`.
class LongDouble {
 public:
  explicit LongDouble(const uint8_t* from);

  double nearest() const { return nearest_; }
  // The fewest digits that mean this number and no other; "nan", "inf", "-inf".
  std::string_view digits() const { return {digits_.data(), size_}; }

 private:
  double nearest_ = 0;
  std::array<char, kMostDigits> digits_{};
  size_t size_ = 0;
};

}  // namespace blip::ctf
