// SPDX-License-Identifier: MIT
#pragma once

#include "dwarf/units/die.h"
#include "script/types/scope.h"

namespace blip::dwarf {

class DebugData;

// True if at least one caller of `function` reads all registers of its result, which is at `place` by the
// convention. A compiler that knows all callers of a function may leave out a result that none of them reads,
// or that is always the same, and use the registers for something else. Debugging information does not say
// so.
bool is_result_taken(DebugData& debug_data, const Dwarf_Die& function, const script::Place& place);

}  // namespace blip::dwarf
