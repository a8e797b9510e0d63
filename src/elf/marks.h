// SPDX-License-Identifier: MIT
// Static marks: places that the authors of a program named with <sys/sdt.h>. The compiler leaves a nop there,
// and a note that tells where it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"
#include "elf/elf_file.h"

namespace blip::elf {

struct Mark {
  std::string provider, name;
  FileAddr place;                     // the nop
  std::optional<FileAddr> semaphore;  // 16 bits, in writable data: the program counts there who listens
  std::string operands;               // as the assembler wrote them: "-4@%edi 8@8(%rbp)"

  bool operator==(const Mark&) const = default;
};

// Sorted by place, each once. Notes that are broken, have no names or lead to no code are left out; so is a
// semaphore that is not in writable data.
std::vector<Mark> read_marks(const ElfFile& file);

// The size of the thread-local variables of one thread, aligned; nullopt if the file has none.
std::optional<uint64_t> thread_block_size(const ElfFile& file);

}  // namespace blip::elf
