// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace blip {

// The bytes of open data, to be written somewhere. They live as long as the data.
template <typename T>
std::span<const uint8_t> bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}
template <typename T>
std::span<const uint8_t> bytes_of(const T& value) {
  return bytes_of(std::span<const T>(&value, 1));
}

}  // namespace blip
