// SPDX-License-Identifier: MIT
// The semaphores of static marks that a blip has raised in a process: words of the program that count who listens to a mark.
//
// The table is private memory of the process, below all other private memory of the trace, which forks copy: a child has a copy of
// the words and of what was done to them. `is_raised` is stored after the word was raised, and cleared before it is lowered: a blip
// that is killed in between leaves a word too high, which costs the program a little time, and never one too low.
#pragma once

#include <cstdint>

namespace blip::abi {

struct SemaphoreEntry {
  uint64_t address;  // of 16 bits; 0: the entry is free, and so are those behind it
  uint64_t inode;    // of the file that was mapped there
  uint32_t is_raised;
  uint32_t unused;
};
static_assert(sizeof(SemaphoreEntry) == 24);

inline constexpr uint64_t kMaxSemaphoreBytes = uint64_t{1} << 20;

}  // namespace blip::abi
