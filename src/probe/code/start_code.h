// SPDX-License-Identifier: MIT
// The two functions every program has a name for, also when its symbols are gone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "elf/symbols.h"

namespace blip::probe {

struct StartFunctions {
  std::vector<elf::Function> found;  // _start and main, as far as `symbols` lacks them and they were found
  std::vector<std::string> notes;    // why not
};

// True if there is anything to look for.
bool lacks_start_functions(const elf::SymbolTable& symbols);

// _start is the entry point; main is what its code gives to __libc_start_main as first argument. Understood
// is the start code of glibc (position independent or not, static or not, with endbr64 or without) and musl.
// An address inside of another function, by `frames`, is not taken for main.
StartFunctions find_start_functions(const elf::ElfFile& file, const elf::SymbolTable& symbols,
                                    std::span<const FileRange> frames);

}  // namespace blip::probe
