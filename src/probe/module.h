// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "elf/debug_files.h"
#include "elf/elf_file.h"
#include "elf/symbols.h"
#include "proc/maps.h"
#include "proc/memory.h"
#include "proc/process.h"

namespace blip::probe {

// An ELF file as the target has it mapped. What costs time (symbols, unwind tables) is read on first use and
// kept.
class Module {
 public:
  // `roots`: where separate debug files are looked for.
  Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable,
         std::vector<elf::SearchRoot> roots = {});
  // A file by itself, at its own addresses; an executable if it has an entry point.
  static Result<Module> of_file(const std::string& path);

  const elf::ElfFile& file() const { return *file_; }
  const std::string& path() const { return path_; }
  const std::string& basename() const { return basename_; }
  bool is_executable() const { return is_executable_; }
  bool is_libc() const;

  uint64_t bias() const { return bias_; }
  TargetAddr to_target(FileAddr a) const { return TargetAddr(a.value + bias_); }
  FileAddr to_file(TargetAddr a) const { return FileAddr(a.value - bias_); }
  // All of it, from the first loaded byte to the last.
  AddrRange extent() const;
  // The executable segments, at run-time addresses.
  std::vector<AddrRange> text() const;

  // The file's own symbols, those of its debug file, and main and _start of a stripped executable.
  Result<const elf::SymbolTable*> symbols() const;
  // The code ranges of .eh_frame, sorted.
  std::span<const FileRange> frames() const;
  // The separate debug files that symbols() has found: at most one; none before it was called.
  std::span<const elf::ElfFile> debug_files() const { return cache_->debug_files; }
  // What symbols() found and could not use: debug files of another build, main not found.
  const std::vector<std::string>& notes() const { return cache_->notes; }

 private:
  struct Cache {
    std::vector<elf::ElfFile> debug_files;
    std::unique_ptr<elf::SymbolTable> symbols;
    std::unique_ptr<std::vector<FileRange>> frames;
    std::vector<std::string> notes;
  };

  Status load_symbols() const;

  std::unique_ptr<elf::ElfFile> file_;
  std::string path_;
  std::string basename_;
  uint64_t bias_;
  bool is_executable_;
  std::vector<elf::SearchRoot> roots_;
  std::unique_ptr<Cache> cache_;
};

// A file with code in the target that blip cannot look into.
struct UnreadableModule {
  std::string path;
  std::string reason;

  std::string text() const { return path + ": " + reason; }
};

struct LoadedModules {
  std::vector<Module> modules;  // the executable first
  std::vector<UnreadableModule> unreadable;
};

// Every ELF file with code in the target. Only a missing executable is an error.
Result<LoadedModules> load_modules(const proc::Process& process, const proc::Memory& memory,
                                   std::span<const proc::Map> maps);

}  // namespace blip::probe
