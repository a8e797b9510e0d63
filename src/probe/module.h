// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/symbols.h"
#include "proc/maps.h"
#include "proc/process.h"

namespace blip::probe {

// An ELF file as the target has it mapped.
class Module {
 public:
  Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable);

  const elf::ElfFile& file() const { return *file_; }
  const std::string& path() const { return path_; }
  const std::string& basename() const { return basename_; }
  bool is_executable() const { return is_executable_; }
  bool is_libc() const;

  TargetAddr to_target(FileAddr a) const { return TargetAddr(a.value + bias_); }
  FileAddr to_file(TargetAddr a) const { return FileAddr(a.value - bias_); }
  // All of it, from the first loaded byte to the last.
  AddrRange extent() const;
  // The executable segments, at run-time addresses.
  std::vector<AddrRange> text() const;

  // Read on first use and kept.
  Result<const elf::SymbolTable*> symbols() const;

 private:
  std::unique_ptr<elf::ElfFile> file_;
  std::string path_;
  std::string basename_;
  uint64_t bias_;
  bool is_executable_;
  mutable std::unique_ptr<elf::SymbolTable> symbols_;
};

// Every ELF file with code in the target, the executable first. Files that cannot be read are left out and
// named in `notes`; only a missing executable is an error.
Result<std::vector<Module>> load_modules(const proc::Process& process, const std::vector<proc::Map>& maps,
                                         std::vector<std::string>& notes);

}  // namespace blip::probe
