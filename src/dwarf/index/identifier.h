// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::dwarf {

// Returns the name under which an entry with this whole name is found, without template arguments:
// "ns::list<a::b>" -> "list". Operators keep all their signs.
std::string_view identifier_in(std::string_view whole_name);

}  // namespace blip::dwarf
