// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace blip {

// How many letters must be inserted, deleted, replaced or swapped with the next to make one word of the other.
// nullopt if that is more than `limit`, or if a word is longer than 256 letters.
std::optional<size_t> edit_distance(std::string_view a, std::string_view b, size_t limit);

}  // namespace blip
