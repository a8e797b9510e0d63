// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// Every target of a switch table of 32-bit distances from the table's own start (what gcc and clang emit in
// PIC), sorted, each once. A superset found without decoding: any bytes that could be `lea table(%rip), reg`
// name a table.
std::vector<FileAddr> jump_table_targets(const ElfFile& file);

// The addresses at which tables and other data begin, if code takes their address; sorted, each once. A table
// does not reach past the next one. This is a superset, found as above. In a file that is not position
// independent it has the tables of `jmp *table(,%rax,8)` too.
std::vector<FileAddr> table_starts(const ElfFile& file);

}  // namespace blip::elf
