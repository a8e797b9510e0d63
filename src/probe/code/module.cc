// SPDX-License-Identifier: MIT
#include "probe/code/module.h"

#include <algorithm>
#include <cstdlib>

#include "base/path.h"

namespace blip::probe {

Module::Module(std::shared_ptr<ModuleFile> file, std::string path, uint64_t bias, bool is_executable)
    : file_(std::move(file)),
      path_(std::move(path)),
      basename_(basename_of(path_)),
      bias_(bias),
      is_executable_(is_executable) {}

Module::Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable)
    : Module(std::make_shared<ModuleFile>(std::move(file), is_executable, std::vector<elf::SearchRoot>()),
             std::move(path), bias, is_executable) {}

Result<Module> Module::of_file(const std::string& path) {
  TRY(elf::ElfFile file, elf::ElfFile::open(path));
  std::unique_ptr<char, decltype(&std::free)> whole(::realpath(path.c_str(), nullptr), &std::free);
  const std::vector<elf::SearchRoot> roots{{"/", whole ? whole.get() : path}};
  const bool is_executable = file.is_code(file.entry());
  return Module(std::make_shared<ModuleFile>(std::move(file), is_executable, roots), path, 0, is_executable);
}

bool Module::is_libc() const {
  return basename_.starts_with("libc.so") || basename_.starts_with("libc-") ||
         basename_.starts_with("ld-musl");
}

Module Module::moved_to(uint64_t bias) const { return Module(file_, path_, bias, is_executable_); }

void Module::release_pages() const {
  file().release_pages();
  for (const elf::ElfFile& debug : debug_files()) debug.release_pages();
}

AddrRange Module::extent() const {
  AddrRange range{TargetAddr(UINT64_MAX), TargetAddr(0)};
  for (const elf::Segment& s : file().segments()) {
    range.begin = std::min(range.begin, to_target(s.range.begin));
    range.end = std::max(range.end, to_target(s.range.end));
  }
  return range;
}

std::vector<AddrRange> Module::text() const {
  std::vector<AddrRange> ranges;
  for (const elf::Segment& s : file().segments())
    if (s.exec) ranges.push_back({to_target(s.range.begin), to_target(s.range.end)});
  return ranges;
}

}  // namespace blip::probe
