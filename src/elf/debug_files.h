// SPDX-License-Identifier: MIT
// Finds the symbols of a stripped file: in a file of their own, or packed inside it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace blip::elf {

// A directory taken as "/", and the path the stripped file has below it. Symbolic links are followed inside
// of it, as a process with that root would.
struct SearchRoot {
  std::string directory;  // "/", "/proc/PID/root"
  std::string path;       // absolute; empty: only the build-id is looked for
};

struct DebugFiles {
  std::vector<ElfFile> files;      // at most one
  std::vector<std::string> notes;  // what was found and could not be used, and why
};

// The first that fits of, in each root in turn: /usr/lib/debug/.build-id/xx/yyyy.debug, and the
// .gnu_debuglink name beside the file, in .debug beside it, and under /usr/lib/debug; then .gnu_debugdata. A
// file fits if its build-id is the same; by name also its CRC must be. Nothing is looked for when the file
// has its .symtab, unless it names a debug file and has no line tables.
DebugFiles find_debug_files(const ElfFile& file, std::span<const SearchRoot> roots);

}  // namespace blip::elf
