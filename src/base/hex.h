// SPDX-License-Identifier: MIT
// Bytes as pairs of small hexadecimal digits, as build-ids are written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace blip {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

inline std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) text += {kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  return text;
}

// Reads what to_hex() made. Other characters count as 0; half a pair is ignored.
inline std::vector<uint8_t> from_hex(std::string_view text) {
  const auto digit = [](char c) {
    const size_t at = kHexDigits.find(c);
    return static_cast<uint8_t>(at == std::string_view::npos ? 0 : at);
  };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
  return bytes;
}

}  // namespace blip
