// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::dwarf {

// What an entry is called whose whole name this is, without template arguments: "ns::list<a::b>" -> "list".
// Operators keep all their signs.
std::string_view identifier_in(std::string_view whole_name);

}  // namespace blip::dwarf
