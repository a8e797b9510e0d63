// SPDX-License-Identifier: MIT
// The functions of a module, by symbols and by unwind tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/code/module.h"

namespace blip::probe {

// Every function, one per address, sorted. Of several names at one address the one preferred_name() likes
// best. Functions known only by .eh_frame (stripped files) have no name and is_nameless set; cold parts and
// IFUNCs are included, with their flags.
Result<std::vector<elf::Function>> all_functions(const Module& module);

// The function that begins there, if one is known to.
Result<std::optional<elf::Function>> function_starting_at(const Module& module, FileAddr address);

// The function that holds the address, by its symbol or by unwind tables; of several names of one the best.
Result<std::optional<elf::Function>> function_around(const Module& module, FileAddr address);

// Returns the name to show: the demangled name without parameters, as users write it; for a nameless one its
// address in the module's file, "MODULE+0x1234".
std::string display_name(const Module& module, const elf::Function& function);

// With the parameters, where the symbol tells them: for functions of one name.
std::string overload_name(const Module& module, const elf::Function& function);

// An instruction of it: "NAME+0x1f", or its address in the module's file, "MODULE+0x1234".
std::string place_name(const Module& module, const elf::Function& function, FileAddr address);

// True if `a` is the better one of two names of a function. The best is the one `written` by the user, else
// the public one (printf, not _IO_printf), else the shorter, else the alphabetically first.
bool preferred_name(std::string_view a, std::string_view b, std::string_view written = {});

}  // namespace blip::probe
