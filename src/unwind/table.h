// SPDX-License-Identifier: MIT
// The unwind table of a file in the form that the target walks by: sorted rows of 4 bytes, and few rules.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/unwind.h"
#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::unwind {

// Of one executable segment; see abi::UnwindModule.
struct SegmentTable {
  FileRange code;
  std::vector<uint32_t> index;
  std::vector<uint32_t> rows;
  std::vector<abi::UnwindRule> rules;

  uint64_t size() const;  // in the target, in bytes
};

// Of all executable segments, from .eh_frame; where it tells nothing from .debug_frame, which may be in a
// separate debug file (nullptr: there is none). Code that neither tells of is kUnknown, except what is known
// without: Go's frame pointers, the way back from signal handlers.
std::vector<SegmentTable> make_tables(const elf::ElfFile& file, const elf::ElfFile* debug = nullptr);

}  // namespace blip::unwind
