// SPDX-License-Identifier: MIT
// How attributes are written.
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/index/cursor.h"
#include "dwarf/index/unit_headers.h"

namespace blip::dwarf {

// How many bytes a form takes in this unit; none: that depends on the bytes, or it is not known.
std::optional<uint32_t> fixed_size(const UnitHeader& unit, uint64_t form);

// False: the form is not known, and nothing behind it can be.
bool skip_form(Cursor& cursor, const UnitHeader& unit, uint64_t form);

// Where a reference leads in .debug_info; none: to another file, or it is none.
std::optional<uint64_t> read_reference(Cursor& cursor, const UnitHeader& unit, uint64_t form);

// It may lead to another unit.
bool leaves_unit(uint64_t form);

}  // namespace blip::dwarf
