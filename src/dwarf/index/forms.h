// SPDX-License-Identifier: MIT
// Reads the forms in which attributes are written.
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/index/cursor.h"
#include "dwarf/index/unit_headers.h"

namespace blip::dwarf {

// The number of bytes that a form takes in this unit; nullopt if it depends on the bytes or is unknown.
std::optional<uint32_t> fixed_size(const UnitHeader& unit, uint64_t form);

// False: the form is not known, and nothing behind it can be.
bool skip_form(Cursor& cursor, const UnitHeader& unit, uint64_t form);

// The offset in .debug_info to which a reference leads; nullopt if it leads to another file or is no
// reference.
std::optional<uint64_t> read_reference(Cursor& cursor, const UnitHeader& unit, uint64_t form);

// It may lead to another unit.
bool leaves_unit(uint64_t form);

}  // namespace blip::dwarf
