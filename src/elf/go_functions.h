// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "elf/symbols.h"

namespace blip::elf {

// The functions named in a Go program's own table (.gopclntab), which it keeps for its stack traces and which
// stripping does not remove; sorted by address. Go 1.16 and later; empty for other files. Names are views
// into the file.
std::vector<Function> go_functions(const ElfFile& file);

}  // namespace blip::elf
