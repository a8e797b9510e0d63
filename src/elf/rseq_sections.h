// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

// A restartable sequence of the file's own (struct rseq_cs): no probe may stand in it.
struct RseqSection {
  FileAddr start;
  uint64_t length = 0;
  FileAddr abort;
};

// Reads the section __rseq_cs; entries that do not point at code are skipped.
std::vector<RseqSection> rseq_sections(const ElfFile& file);

}  // namespace blip::elf
