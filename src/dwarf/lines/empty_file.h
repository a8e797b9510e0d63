// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace blip::dwarf {

// An ELF file whose debugging information says nothing: what libdw gets in the place of a file that is not
// there, so that it looks for none.
std::vector<uint8_t> empty_debug_file();

}  // namespace blip::dwarf
