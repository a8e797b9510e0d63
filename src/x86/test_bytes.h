// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace blip::x86::test {

// "48 89 e5" as bytes.
inline std::vector<uint8_t> bytes(std::string_view text) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    out.push_back(static_cast<uint8_t>(std::strtoul(std::string(text.substr(i, 2)).c_str(), nullptr, 16)));
    ++i;
  }
  return out;
}

inline std::string text(const std::vector<uint8_t>& in) {
  std::string out;
  for (uint8_t b : in) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", b);
  return out;
}

}  // namespace blip::x86::test
