// SPDX-License-Identifier: MIT
#include "probe/module.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/progress.h"

namespace blip::probe {

namespace {

std::string basename_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Ways to reach the file behind a mapping, best first: the kernel's own link to it (needs a capability), the
// executable's link, the path as the target sees it.
std::vector<std::string> candidates(const proc::Process& process, const proc::Map& map, bool is_executable) {
  const std::string proc = fmt::format("/proc/{}/", process.pid());
  std::vector<std::string> paths;
  if (is_executable) paths.push_back(proc + "exe");
  if (!map.deleted) paths.push_back(proc + "root" + map.path);
  paths.push_back(map.path);  // as seen from here: a process in a chroot
  paths.push_back(fmt::format("{}map_files/{:x}-{:x}", proc, map.range.begin.value, map.range.end.value));
  return paths;
}

Result<elf::ElfFile> open_mapped(const proc::Process& process, const proc::Map& map, bool is_executable) {
  Error last(ErrorKind::kNotFound, "cannot be opened");
  for (const std::string& path : candidates(process, map, is_executable)) {
    struct stat st;
    if (::stat(path.c_str(), &st) != 0) continue;
    if (st.st_ino != map.inode) {
      last = Error(ErrorKind::kInvalid, "was replaced on disk since the process loaded it");
      continue;
    }
    auto file = elf::ElfFile::open(path);
    if (file) return file;
    last = file.error();
  }
  return last;
}

// Run-time address - file address, from where one executable mapping lies.
std::optional<uint64_t> load_bias(const elf::ElfFile& file, const proc::Map& map) {
  for (const elf::Segment& s : file.segments()) {
    if (!s.exec) continue;
    const uint64_t page_offset = s.offset.value & ~uint64_t{4095};
    const uint64_t page_addr = s.range.begin.value & ~uint64_t{4095};
    const uint64_t size = (s.offset.value + s.filesz) - page_offset;
    if (map.offset >= page_offset && map.offset < page_offset + size)
      return map.range.begin.value - (page_addr + (map.offset - page_offset));
  }
  return std::nullopt;
}

bool is_code_of_file(const proc::Map& map) {
  return map.exec && map.inode != 0 && !map.path.empty() && map.path[0] == '/';
}

// The file address range the executable was loaded from holds its entry point; its inode is /proc/PID/exe's.
uint64_t executable_inode(const proc::Process& process) {
  struct stat st;
  const std::string exe = fmt::format("/proc/{}/exe", process.pid());
  return ::stat(exe.c_str(), &st) == 0 ? st.st_ino : 0;
}

}  // namespace

Module::Module(elf::ElfFile file, std::string path, uint64_t bias, bool is_executable)
    : file_(std::make_unique<elf::ElfFile>(std::move(file))),
      path_(std::move(path)),
      basename_(basename_of(path_)),
      bias_(bias),
      is_executable_(is_executable) {}

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
  if (!symbols_) {
    const progress::Step step("reading the symbols of " + basename_);
    TRY(elf::SymbolTable table, elf::SymbolTable::load(*file_));
    symbols_ = std::make_unique<elf::SymbolTable>(std::move(table));
  }
  return symbols_.get();
}

Result<std::vector<Module>> load_modules(const proc::Process& process, const std::vector<proc::Map>& maps,
                                         std::vector<std::string>& notes) {
  const uint64_t exe_inode = executable_inode(process);
  std::vector<Module> modules;
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (const proc::Map& map : maps) {
    if (!is_code_of_file(map)) continue;
    const bool is_executable = map.inode == exe_inode;
    auto file = open_mapped(process, map, is_executable);
    if (!file) {
      notes.push_back(fmt::format("{}: {}", map.path, file.error().message()));
      continue;
    }
    const auto bias = load_bias(*file, map);
    if (!bias || !seen.insert({map.inode, *bias}).second) continue;
    modules.emplace_back(*std::move(file), map.path, *bias, is_executable);
  }
  std::stable_partition(modules.begin(), modules.end(), [](const Module& m) { return m.is_executable(); });
  if (modules.empty() || !modules.front().is_executable())
    return Error(ErrorKind::kNotFound, fmt::format("the executable of process {} cannot be read{}",
                                                   process.pid(), notes.empty() ? "" : ": " + notes.front()));
  return modules;
}

}  // namespace blip::probe
