// SPDX-License-Identifier: MIT
#include "proc/stub_site.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/path.h"
#include "machine/stub.h"
#include "proc/files/proc_directory.h"
#include "proc/files/status.h"

// The kernel maps whole pages: behind the last byte of a text segment the rest of its page is executable too,
// holds whatever comes next in the file and belongs to no segment.

namespace blip::proc {

namespace {

using machine::is_stub;
using machine::kStubSize;

constexpr size_t kMaxProgramHeaders = 128;

std::string read_exe_link(pid_t pid) {
  const auto tid = find_live_thread(pid);
  if (!tid) return {};
  char path[PATH_MAX];
  const ssize_t length =
      ::readlink(fmt::format("/proc/{}/task/{}/exe", pid, *tid).c_str(), path, sizeof path);
  return length < 0 ? std::string() : std::string(path, static_cast<size_t>(length));
}

// Lower is better. The executable and libc are never unloaded.
int rank_of(const Map& map, std::string_view exe) {
  const std::string_view name = basename_of(map.path);
  if (exe == map.path || (map.deleted && exe == map.path + " (deleted)")) return 0;
  if (name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-")) return 1;
  return 2;
}

bool same_file(const Map& a, const Map& b) {
  return a.inode == b.inode && a.dev == b.dev && a.path == b.path;
}

// The mapping of the file's beginning that belongs to the text: the nearest one at or below it.
const Map* find_header_map(std::span<const Map> maps, const Map& text) {
  const Map* header = nullptr;
  for (const Map& map : maps) {
    if (map.range.begin > text.range.begin) break;
    if (map.offset == 0 && same_file(map, text)) header = &map;
  }
  return header;
}

Result<std::vector<Elf64_Phdr>> read_program_headers(const Memory& memory, TargetAddr base) {
  TRY(const Elf64_Ehdr header, memory.read_value<Elf64_Ehdr>(base));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMaxProgramHeaders)
    return Error(ErrorKind::kInvalid, "not an ELF module");
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  TRY_OK(memory.read(base + header.e_phoff,
                     {reinterpret_cast<uint8_t*>(headers.data()), headers.size() * sizeof(Elf64_Phdr)}));
  return headers;
}

// The free end of the text mapping, if it is large enough.
std::optional<TargetAddr> find_slack(const Memory& memory, TargetAddr base, const Map& text) {
  const auto headers = read_program_headers(memory, base);
  if (!headers) return std::nullopt;
  std::optional<uint64_t> bias;
  for (const Elf64_Phdr& header : *headers) {
    if (header.p_type != PT_LOAD) continue;
    if (!bias) bias = base.value - (header.p_vaddr & ~(kPageSize - 1));
    if (!(header.p_flags & PF_X) || header.p_memsz != header.p_filesz) continue;
    const TargetAddr end((*bias + header.p_vaddr + header.p_memsz + 7) & ~uint64_t{7});
    const bool in_last_page = end < text.range.end && text.range.end - end < kPageSize;
    if (in_last_page && text.range.end - end >= kStubSize) return end;
  }
  return std::nullopt;
}

// The bytes of the file at this place; empty if the file cannot be opened from here.
std::vector<uint8_t> read_file_bytes(pid_t pid, const Map& map, TargetAddr addr) {
  std::vector<uint8_t> bytes(kStubSize, 0);
  const Fd file(::open((proc_directory(pid) + "/root" + map.path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || map.deleted) return bytes;
  const auto offset = static_cast<off_t>(map.offset + (addr - map.range.begin));
  if (::pread(file.get(), bytes.data(), bytes.size(), offset) < 0) bytes.assign(kStubSize, 0);
  return bytes;
}

Result<StubSite> make_site(const Memory& memory, const Map& map, TargetAddr addr) {
  StubSite site{addr, std::vector<uint8_t>(kStubSize)};
  TRY_OK(memory.read(addr, site.original));
  if (is_stub(site.original)) site.original = read_file_bytes(memory.pid(), map, addr);
  return site;
}

}  // namespace

Result<StubSite> find_stub_site(const Memory& memory, std::span<const Map> maps) {
  const std::string exe = read_exe_link(memory.pid());
  std::vector<const Map*> texts;
  for (const Map& map : maps)
    if (map.exec && map.read && !map.write && !map.shared && map.file_backed()) texts.push_back(&map);
  std::stable_sort(texts.begin(), texts.end(),
                   [&](const Map* a, const Map* b) { return rank_of(*a, exe) < rank_of(*b, exe); });
  for (const Map* text : texts) {
    const Map* header = find_header_map(maps, *text);
    if (!header) continue;
    if (const auto slack = find_slack(memory, header->range.begin, *text))
      return make_site(memory, *text, *slack);
  }
  return Error(
      ErrorKind::kUnsupported,
      fmt::format("process {}: no unused {} bytes behind the text of any module", memory.pid(), kStubSize));
}

}  // namespace blip::proc
