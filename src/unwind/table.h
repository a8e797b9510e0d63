// SPDX-License-Identifier: MIT
// The unwind table of a file in the form that the target walks by: sorted rows of 4 bytes, and few rules.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/unwind.h"
#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::unwind {

// The table of one executable segment; see abi::UnwindModule.
struct SegmentTable {
  FileRange code;
  std::vector<uint32_t> index;
  std::vector<uint32_t> rows;
  std::vector<abi::UnwindRule> rules;

  uint64_t size() const;  // in the target, in bytes
};

// Makes the tables of all executable segments from .eh_frame. Code that it does not describe is looked up in
// .debug_frame, which may be in a separate debug file (nullptr if there is none). The rest is kUnknown,
// except what is known without tables: Go's frame pointers, and the way back from signal handlers.
std::vector<SegmentTable> make_tables(const elf::ElfFile& file, const elf::ElfFile* debug = nullptr);

}  // namespace blip::unwind
