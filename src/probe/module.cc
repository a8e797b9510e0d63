// SPDX-License-Identifier: MIT
#include "probe/module.h"

#include <algorithm>
#include <cstdlib>

#include "base/progress.h"
#include "elf/landing_pads.h"
#include "probe/start_code.h"

namespace blip::probe {

namespace {

std::string basename_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Module::Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable,
               std::vector<elf::SearchRoot> roots)
    : file_(std::make_unique<elf::ElfFile>(std::move(file))),
      path_(std::move(path)),
      basename_(basename_of(path_)),
      bias_(bias),
      is_executable_(is_executable),
      roots_(std::move(roots)),
      cache_(std::make_unique<Cache>()) {}

Result<Module> Module::of_file(const std::string& path) {
  TRY(elf::ElfFile file, elf::ElfFile::open(path));
  std::unique_ptr<char, decltype(&std::free)> whole(::realpath(path.c_str(), nullptr), &std::free);
  const std::string absolute = whole ? whole.get() : path;
  const bool is_executable = file.is_code(file.entry());
  return Module(std::move(file), path, 0, is_executable, {{"/", absolute}});
}

bool Module::is_libc() const {
  return basename_.starts_with("libc.so") || basename_.starts_with("libc-") ||
         basename_.starts_with("ld-musl");
}

AddrRange Module::extent() const {
  AddrRange range{TargetAddr(UINT64_MAX), TargetAddr(0)};
  for (const elf::Segment& s : file_->segments()) {
    range.begin = std::min(range.begin, to_target(s.range.begin));
    range.end = std::max(range.end, to_target(s.range.end));
  }
  return range;
}

std::vector<AddrRange> Module::text() const {
  std::vector<AddrRange> ranges;
  for (const elf::Segment& s : file_->segments())
    if (s.exec) ranges.push_back({to_target(s.range.begin), to_target(s.range.end)});
  return ranges;
}

Result<const elf::SymbolTable*> Module::symbols() const {
  if (!cache_->symbols) TRY_OK(load_symbols());
  return cache_->symbols.get();
}

Status Module::load_symbols() const {
  const progress::Step step("reading the symbols of " + basename_);
  elf::DebugFiles debug = elf::find_debug_files(*file_, roots_);
  cache_->debug_files = std::move(debug.files);
  cache_->notes = std::move(debug.notes);
  TRY(elf::SymbolTable table, elf::SymbolTable::load(*file_, cache_->debug_files));
  if (is_executable_ && lacks_start_functions(table)) {
    StartFunctions start = find_start_functions(*file_, table, frames());
    table.add(start.found);
    for (std::string& note : start.notes) cache_->notes.push_back(std::move(note));
  }
  cache_->symbols = std::make_unique<elf::SymbolTable>(std::move(table));
  return {};
}

std::span<const FileRange> Module::frames() const {
  if (!cache_->frames) cache_->frames = std::make_unique<std::vector<FileRange>>(elf::frame_ranges(*file_));
  return *cache_->frames;
}

}  // namespace blip::probe
