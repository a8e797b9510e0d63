// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// The loader stores at `place` the run-time address of `value`.
struct StoredPointer {
  FileAddr place;
  FileAddr value;
};

// Every pointer into the file itself that relocations store: RELATIVE, IRELATIVE (its resolver), and by
// symbols the file defines; from .rela.* and .relr.dyn, or, without section headers, from PT_DYNAMIC.
void for_each_stored_pointer(const ElfFile& file, const std::function<void(StoredPointer)>& visit);

// A place the loader fills with the address of a function.
struct FunctionSlot {
  FileAddr place;
  std::string_view symbol;  // the name it is bound by, without version; empty: by calling `resolver`
  FileAddr resolver;
};

// Every such place: JUMP_SLOT, GLOB_DAT and 64 by symbol (which may be data: the relocation does not tell),
// IRELATIVE by resolver.
void for_each_function_slot(const ElfFile& file, const std::function<void(const FunctionSlot&)>& visit);

// A variable that several files may define: the loader chooses one of them for all.
struct BoundVariable {
  std::string_view symbol;  // without version
  FileAddr place;           // of the variable, or of a word that the loader fills with its address
  bool is_address = false;
};

// Every such variable (or function: the relocation does not tell) that the file's code reaches by what the
// loader does: COPY, GLOB_DAT.
void for_each_bound_variable(const ElfFile& file, const std::function<void(const BoundVariable&)>& visit);

}  // namespace blip::elf
