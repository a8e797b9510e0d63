// SPDX-License-Identifier: MIT
// Where bytes stand, in many megabytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace blip::dwarf {

// Of each 4 bytes, at any alignment, that are one of the values; sorted.
std::vector<uint64_t> find_words(std::span<const uint8_t> bytes, std::vector<uint32_t> values);

// Of the text; sorted.
std::vector<uint64_t> find_text(std::span<const uint8_t> bytes, std::string_view text);

}  // namespace blip::dwarf
