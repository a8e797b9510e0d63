// SPDX-License-Identifier: MIT
#include "probe/uprobe/uprobe_places.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/fd.h"
#include "proc/files/links.h"
#include "proc/files/maps.h"
#include "x86/decode.h"

namespace blip::probe {

namespace {

constexpr uint8_t kInt3 = 0xcc;

struct OpenFile {
  std::string path;
  Fd fd;  // none: cannot be opened
};

// map_files names the very file, also when it was deleted or replaced, but needs root; the path must lead to
// the same inode.
OpenFile open_map(const proc::Process& process, const proc::Map& map) {
  const std::string link = proc::map_link(process.pid(), map.range);
  const std::string path = proc::root_link(process.pid()) + map.path;
  for (const std::string& candidate : {link, path}) {
    Fd fd(::open(candidate.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts;
    if (fd && ::fstat(fd.get(), &facts) == 0 && facts.st_ino == map.inode) return {candidate, std::move(fd)};
  }
  return {};
}

using Bytes = std::array<uint8_t, x86::kMaxInsnLength>;

// How many bytes could be read.
size_t read_file(const Fd& fd, uint64_t offset, Bytes& into) {
  const ssize_t n = ::pread(fd.get(), into.data(), into.size(), static_cast<off_t>(offset));
  return n < 0 ? 0 : static_cast<size_t>(n);
}

// Another tool's breakpoint (a uprobe, most likely) hides the first byte; the kernel knows how to share it.
bool same_code(std::span<const uint8_t> file, std::span<const uint8_t> memory) {
  return (memory[0] == file[0] || memory[0] == kInt3) &&
         std::equal(file.begin() + 1, file.end(), memory.begin() + 1);
}

std::string refusal_of(const OpenFile& file, const proc::Map& map, TargetAddr addr,
                       const proc::Memory& memory) {
  if (!file.fd) return fmt::format("{} cannot be opened as the process has it mapped", map.path);
  Bytes in_file{};
  const size_t available = std::min<size_t>(read_file(file.fd, addr - map.range.begin + map.offset, in_file),
                                            map.range.end - addr);
  const auto insn = x86::decode({in_file.data(), available}, addr);
  if (!insn) return "there is no instruction";
  Bytes in_memory{};
  if (!memory.read(addr, {in_memory.data(), insn->length})) return "the code cannot be read";
  if (!same_code({in_file.data(), insn->length}, {in_memory.data(), insn->length}))
    return "the code in memory differs from the file";
  return {};
}

}  // namespace

Result<std::vector<UprobePlace>> find_uprobe_places(const proc::Process& process, const proc::Memory& memory,
                                                    std::span<const TargetAddr> addresses) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  std::map<TargetAddr, OpenFile> files;  // by the mapping's start
  std::vector<UprobePlace> places;
  for (TargetAddr addr : addresses) {
    const proc::Map* map = proc::find_map(maps, addr);
    if (!map || !map->file_backed() || !map->exec) {
      places.push_back({.refusal = "it is not in a mapped file's code"});
      continue;
    }
    auto [file, is_new] = files.try_emplace(map->range.begin);
    if (is_new) file->second = open_map(process, *map);
    places.push_back({.path = file->second.path,
                      .offset = addr - map->range.begin + map->offset,
                      .refusal = refusal_of(file->second, *map, addr, memory)});
  }
  return places;
}

}  // namespace blip::probe
