// SPDX-License-Identifier: MIT
// Describes captured values in the words of a trace.
#pragma once

#include <vector>

#include "ctf/schema.h"
#include "script/ir/ir.h"
#include "script/types/shape.h"

namespace blip::session {

// Adds the field, and a note behind it where not all of an array is there.
void add_captured_field(const script::Shape& shape, std::vector<ctf::Field>& fields);

// `may_fault`: whether the program reads memory for it.
ctf::RecordOutput record_output(const script::Output& output, bool may_fault);

}  // namespace blip::session
