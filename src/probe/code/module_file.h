// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/fd.h"
#include "base/result.h"
#include "elf/debug_files.h"
#include "elf/elf_file.h"
#include "elf/symbols.h"

namespace blip::probe {

// A file and what is known of it, wherever and however often it is mapped. What costs time (symbols, unwind
// tables) is read on first use and kept. Not for several threads at once.
class ModuleFile {
 public:
  // `roots`: where separate debug files are looked for.
  ModuleFile(elf::ElfFile elf, bool is_executable, std::vector<elf::SearchRoot> roots);

  const elf::ElfFile& elf() const { return elf_; }
  // The file's own symbols, those of its debug file, and main and _start of a stripped executable.
  Result<const elf::SymbolTable*> symbols();
  // The code ranges of .eh_frame, sorted.
  std::span<const FileRange> frames();
  // The separate debug files that symbols() has found: one at most, and what dwz has put apart.
  std::span<const elf::ElfFile> debug_files() const { return debug_files_; }
  // Notes about what symbols() found and could not use: debug files of another build, main not found.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Status load_symbols();

  elf::ElfFile elf_;
  bool is_executable_;
  std::vector<elf::SearchRoot> roots_;
  std::vector<elf::ElfFile> debug_files_;
  std::unique_ptr<elf::SymbolTable> symbols_;
  std::unique_ptr<std::vector<FileRange>> frames_;
  std::vector<std::string> notes_;
};

// The files opened so far, so that none is parsed twice: processes of one trace share most of theirs.
class ModuleFiles {
 public:
  Result<std::shared_ptr<ModuleFile>> open(const Fd& fd, const std::string& path, bool is_executable,
                                           const std::vector<elf::SearchRoot>& roots);

 private:
  // A file that was written to since is another one.
  struct Identity {
    dev_t dev;
    ino_t inode;
    off_t size;
    int64_t changed_s, changed_ns;
    bool is_executable;
    auto operator<=>(const Identity&) const = default;
  };

  std::map<Identity, std::shared_ptr<ModuleFile>> files_;
};

}  // namespace blip::probe
