// SPDX-License-Identifier: MIT
#pragma once

#include "dwarf/units/die.h"
#include "script/convention/sysv_abi.h"

namespace blip::dwarf {

// Says how C++ passes and returns a value of this type (Itanium C++ ABI, 3.1.2.3): by reference if it is not
// trivial to copy or destroy. Some compilers say so; others show it by the members that they list.
script::AbiValue::Passing passing_of(const Dwarf_Die& type);

}  // namespace blip::dwarf
