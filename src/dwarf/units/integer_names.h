// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace blip::dwarf {

// C lets its integer types be written in many ways, and compilers choose different ones: all that mean the
// same as `name` and that a compiler writes. Empty: it is none of them.
std::vector<std::string> integer_spellings(std::string_view name);

}  // namespace blip::dwarf
