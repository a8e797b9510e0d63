// SPDX-License-Identifier: MIT
// Searches many megabytes for bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace blip::dwarf {

// The offsets, at any alignment, of 4 bytes that are one of the values; sorted.
std::vector<uint64_t> find_words(std::span<const uint8_t> bytes, std::vector<uint32_t> values);

// The offsets of the text; sorted.
std::vector<uint64_t> find_text(std::span<const uint8_t> bytes, std::string_view text);

}  // namespace blip::dwarf
