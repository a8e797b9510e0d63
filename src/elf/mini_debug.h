// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/result.h"
#include "elf/elf_file.h"

namespace blip::elf {

// .gnu_debugdata: an ELF file with nothing but a symbol table, compressed by xz, inside of a stripped one.
// Nothing where there is none; kInvalid when it cannot be read, or is larger than such a file can reasonably
// be (a few bytes may unpack to gigabytes).
Result<std::optional<ElfFile>> mini_debug_file(const ElfFile& file);

}  // namespace blip::elf
