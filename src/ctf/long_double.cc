// SPDX-License-Identifier: MIT
//     sign | 15 bits of exponent, 16383 is 2^0 | 64 bits, of which the highest counts 1
//
// The memory of a target may hold what is no number, such as an exponent whose highest bit of 64 is 0: the
// value is made anew of its parts.
#include "ctf/long_double.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace blip::ctf {

namespace {

long double value_of(const uint8_t* from) {
  constexpr uint16_t kSign = 0x8000, kLargest = 0x7fff;
  constexpr int kOne = 16383 + 63;
  uint64_t mantissa = 0;
  uint16_t head = 0;
  std::memcpy(&mantissa, from, sizeof mantissa);
  std::memcpy(&head, from + sizeof mantissa, sizeof head);
  const auto exponent = static_cast<uint16_t>(head & kLargest);
  const bool is_invalid = exponent != 0 && mantissa >> 63 == 0;
  const bool is_infinite = exponent == kLargest && mantissa << 1 == 0;
  long double value = std::numeric_limits<long double>::quiet_NaN();
  if (is_infinite && !is_invalid) value = std::numeric_limits<long double>::infinity();
  if (exponent != kLargest && !is_invalid)
    value = std::ldexp(static_cast<long double>(mantissa), (exponent == 0 ? 1 : exponent) - kOne);
  return std::copysign(value, head & kSign ? -1.0L : 1.0L);
}

}  // namespace

LongDouble::LongDouble(const uint8_t* from) {
  const long double value = value_of(from);
  nearest_ = static_cast<double>(value);
  if (std::isnan(value)) {
    size_ = 3;
    std::memcpy(digits_.data(), "nan", size_);
    return;
  }
  const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), value);
  size_ = end.ec == std::errc() ? static_cast<size_t>(end.ptr - digits_.data()) : 0;
}

}  // namespace blip::ctf
