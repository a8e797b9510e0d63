// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace blip::dwarf {

// The place of a unit in .debug_info, and the sizes of its numbers.
struct UnitHeader {
  uint64_t begin = 0;          // of the header: references count from here
  uint64_t entry = 0;          // the first entry
  uint64_t end = 0;            // never behind the section's
  uint64_t abbreviations = 0;  // in .debug_abbrev
  uint16_t version = 0;        // 2 to 5
  uint8_t address_size = 0;
  uint8_t offset_size = 0;
};

// All of them, in the order of the section. None: something in it is not as it should be.
std::optional<std::vector<UnitHeader>> unit_headers(std::span<const uint8_t> info);

}  // namespace blip::dwarf
