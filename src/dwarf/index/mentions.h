// SPDX-License-Identifier: MIT
// Finds the places in a file's debugging information where a name may be, by its bytes. Reading the entries
// of a large program takes seconds; searching it for four bytes takes some hundredths of one.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace blip::dwarf {

// All positions are offsets; what is found may be something else that looks the same.
class Mentions {
 public:
  Mentions() = default;
  // Sections as libdw has opened them: expanded. `alternate` may be null. Both must outlive this.
  Mentions(Elf* debug, Elf* alternate);

  struct Places {
    std::vector<uint64_t> info;   // in .debug_info; sorted
    std::vector<uint64_t> slots;  // in .debug_str_offsets, for units that number their strings; sorted
  };
  // The places of entries with this name; template arguments may follow it.
  Places of_name(std::string_view identifier) const;
  // The places of references from other units to the entries at these offsets.
  std::vector<uint64_t> of_entries(std::span<const uint64_t> offsets) const;

 private:
  std::span<const uint8_t> info_, strings_, slots_, alternate_strings_;
};

}  // namespace blip::dwarf
