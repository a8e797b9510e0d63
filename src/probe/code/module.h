// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/symbols.h"
#include "probe/code/module_file.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// An ELF file as the target has it mapped.
class Module {
 public:
  Module(std::shared_ptr<ModuleFile> file, std::string path, uint64_t bias, bool is_executable);
  // Without debug files.
  Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable);
  // A file by itself, at its own addresses; an executable if it has an entry point.
  static Result<Module> of_file(const std::string& path);

  // The same file as if it had been loaded at another address.
  Module moved_to(uint64_t bias) const;

  const elf::ElfFile& file() const { return file_->elf(); }
  const std::string& path() const { return path_; }
  const std::string& basename() const { return basename_; }
  bool is_executable() const { return is_executable_; }
  bool is_libc() const;

  uint64_t bias() const { return bias_; }
  TargetAddr to_target(FileAddr a) const { return TargetAddr(a.value + bias_); }
  FileAddr to_file(TargetAddr a) const { return FileAddr(a.value - bias_); }
  // All of it, from the first loaded byte to the last.
  AddrRange extent() const;
  // The same file at the same place.
  bool is_same(const Module& other) const { return file_ == other.file_ && bias_ == other.bias_; }
  // The same for all modules of one file, as long as one of them lives.
  const void* identity() const { return file_.get(); }
  // The executable segments, at run-time addresses.
  std::vector<AddrRange> text() const;

  // See ModuleFile.
  Result<const elf::SymbolTable*> symbols() const { return file_->symbols(); }
  std::span<const FileRange> frames() const { return file_->frames(); }
  std::span<const elf::ElfFile> debug_files() const { return file_->debug_files(); }
  const std::vector<std::string>& notes() const { return file_->notes(); }
  // See ElfFile: of the file and its debug files.
  void release_pages() const;

 private:
  std::shared_ptr<ModuleFile> file_;
  std::string path_;
  std::string basename_;
  uint64_t bias_;
  bool is_executable_;
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

// Every ELF file with code in the target. Only a missing executable is an error. `files` holds those of other
// processes of the trace, which are not read again.
Result<LoadedModules> load_modules(const proc::Process& process, const proc::Memory& memory,
                                   std::span<const proc::Map> maps, ModuleFiles& files);
Result<LoadedModules> load_modules(const proc::Process& process, const proc::Memory& memory,
                                   std::span<const proc::Map> maps);

}  // namespace blip::probe
