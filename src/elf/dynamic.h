// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "elf/elf_file.h"

namespace blip::elf {

// The value of the first PT_DYNAMIC entry with this tag (DT_*).
std::optional<uint64_t> dynamic_value(const ElfFile& file, int64_t tag);

}  // namespace blip::elf
