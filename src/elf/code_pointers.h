// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// Every address of code that data of the file may hold, sorted, each once: values that relocations store,
// and, in a file that is not position independent, aligned 8-byte words of data sections. (A
// position-independent file cannot hold a code address without a relocation.) A superset: a word may only
// look like a pointer. Tables of 32-bit distances are jump_table_targets()'s.
std::vector<FileAddr> code_pointers(const ElfFile& file);

}  // namespace blip::elf
