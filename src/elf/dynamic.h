// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace blip::elf {

// The value of the first PT_DYNAMIC entry with this tag (DT_*).
std::optional<uint64_t> dynamic_value(const ElfFile& file, int64_t tag);

// The libraries it asks the loader for (DT_NEEDED), and the name it is asked for by (DT_SONAME, may be
// empty).
std::vector<std::string> needed_libraries(const ElfFile& file);
std::string soname(const ElfFile& file);

}  // namespace blip::elf
