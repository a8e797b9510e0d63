// SPDX-License-Identifier: MIT
// The SPEC of marks on the command line, and what it means.
#pragma once

#include <string_view>

#include "base/result.h"
#include "elf/marks.h"
#include "elf/spec.h"

namespace blip::elf {

// [MODULE:]PROVIDER:NAME, or NAME alone. Each part may be a pattern; an empty one means all. The `name` of the
// Spec is "PROVIDER:NAME".
Result<Spec> parse_mark_spec(std::string_view text);

// A '-' of the SPEC is also the "__" that C makes of it: gc-start is gc__start.
bool matches(const Spec& spec, const Mark& mark);
// True if the SPEC names no module, or this one: by its basename, or by a path.
bool names_module(const Spec& spec, std::string_view path);

}  // namespace blip::elf
