// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// What the loader stores: at `place` the run-time address of `value`.
struct StoredPointer {
  FileAddr place;
  FileAddr value;
};

// Every pointer into the file itself that relocations store: RELATIVE, IRELATIVE (its resolver), and by
// symbols the file defines; from .rela.* and .relr.dyn, or, without section headers, from PT_DYNAMIC.
void for_each_stored_pointer(const ElfFile& file, const std::function<void(StoredPointer)>& visit);

}  // namespace blip::elf
