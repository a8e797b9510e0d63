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

// Where tables and other data begin that code takes the address of, sorted, each once: a table does not reach
// past the next. A superset, found like the above; in a file that is not position independent also the tables
// of `jmp *table(,%rax,8)`.
std::vector<FileAddr> table_starts(const ElfFile& file);

}  // namespace blip::elf
