// SPDX-License-Identifier: MIT
#include "probe/code/module_file.h"

#include <fmt/core.h>

#include "base/path.h"
#include "base/progress.h"
#include "elf/alternate_file.h"
#include "elf/landing_pads.h"
#include "probe/code/start_code.h"

namespace blip::probe {

ModuleFile::ModuleFile(elf::ElfFile elf, bool is_executable, std::vector<elf::SearchRoot> roots)
    : elf_(std::move(elf)), is_executable_(is_executable), roots_(std::move(roots)) {}

Result<const elf::SymbolTable*> ModuleFile::symbols() {
  if (!symbols_) TRY_OK(load_symbols());
  return symbols_.get();
}

Status ModuleFile::load_symbols() {
  const progress::Step step(fmt::format("reading the symbols of {}", basename_of(elf_.path())));
  elf::DebugFiles debug = elf::find_debug_files(elf_, roots_);
  debug_files_ = std::move(debug.files);
  notes_ = std::move(debug.notes);
  TRY(elf::SymbolTable table, elf::SymbolTable::load(elf_, debug_files_));
  const bool is_program = debug_files_.empty();
  elf::AlternateFile other =
      elf::find_alternate_file(is_program ? elf_ : debug_files_.front(), is_program, roots_);
  if (other.file) debug_files_.push_back(*std::move(other.file));
  if (!other.missing.empty()) notes_.push_back(std::move(other.missing));
  if (is_executable_ && lacks_start_functions(table)) {
    StartFunctions start = find_start_functions(elf_, table, frames());
    table.add(start.found);
    for (std::string& note : start.notes) notes_.push_back(std::move(note));
  }
  symbols_ = std::make_unique<elf::SymbolTable>(std::move(table));
  return {};
}

std::span<const FileRange> ModuleFile::frames() {
  if (!frames_) frames_ = std::make_unique<std::vector<FileRange>>(elf::frame_ranges(elf_));
  return *frames_;
}

Result<std::shared_ptr<ModuleFile>> ModuleFiles::open(const Fd& fd, const std::string& path,
                                                      bool is_executable,
                                                      const std::vector<elf::SearchRoot>& roots) {
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno(errno, path);
  std::shared_ptr<ModuleFile>& known =
      files_[{st.st_dev, st.st_ino, st.st_size, st.st_ctim.tv_sec, st.st_ctim.tv_nsec, is_executable}];
  if (known) return known;
  TRY(elf::ElfFile file, elf::ElfFile::from_fd(fd, path));
  known = std::make_shared<ModuleFile>(std::move(file), is_executable, roots);
  return known;
}

}  // namespace blip::probe
