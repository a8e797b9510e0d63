// SPDX-License-Identifier: MIT
// Finds where exception handling enters code, from .eh_frame and .gcc_except_table.
#pragma once

#include <vector>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// Every landing pad of every function with an LSDA, sorted, each once. Malformed parts are skipped.
std::vector<FileAddr> landing_pads(const ElfFile& file);

// The code range of every FDE, sorted: with few exceptions (assembly) one per function or .cold part, also in
// stripped files.
std::vector<FileRange> frame_ranges(const ElfFile& file);

}  // namespace blip::elf
