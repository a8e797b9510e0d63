// SPDX-License-Identifier: MIT
#include "elf/alternate_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hex.h"

namespace blip::elf {

namespace {

constexpr size_t kLongestPath = 4096;

// Beside the file that names it, as that root sees it.
std::string whole_path(std::string_view path, const std::string& beside, const SearchRoot& root) {
  if (path.front() == '/') return std::string(path);
  std::string from = beside;
  if (root.directory != "/" && from.starts_with(root.directory)) from.erase(0, root.directory.size());
  return fmt::format("{}/{}", from.substr(0, from.rfind('/')), path);
}

Result<std::vector<uint8_t>> read_all(const Fd& fd, const std::string& path) {
  constexpr off_t kLargest = off_t{512} << 20;
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno(errno, path);
  if (!S_ISREG(info.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file");
  if (info.st_size > kLargest) return Error(ErrorKind::kUnsupported, "larger than 512 MiB");
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(fd.get(), &bytes[at], bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error(ErrorKind::kInvalid, "it was cut while it was read");
    at += static_cast<size_t>(got);
  }
  return bytes;
}

// dwz writes an object file that nothing is to be linked from: sections, no segments. It reads like a library
// with a segment that holds nothing.
Result<ElfFile> open_alternate(const Fd& fd, const std::string& path) {
  TRY(std::vector<uint8_t> bytes, read_all(fd, path));
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return Error(ErrorKind::kInvalid, "not an ELF file");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_type == ET_REL && header.e_phnum == 0) {
    const Elf64_Phdr nothing{.p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = 1};
    header.e_type = ET_DYN;
    header.e_phoff = bytes.size();
    header.e_phentsize = sizeof nothing;
    header.e_phnum = 1;
    std::memcpy(bytes.data(), &header, sizeof header);
    const auto* const added = reinterpret_cast<const uint8_t*>(&nothing);
    bytes.insert(bytes.end(), added, added + sizeof nothing);
  }
  return ElfFile::from_bytes(path, std::move(bytes));
}

}  // namespace

std::optional<AlternateLink> alternate_link(const ElfFile& file) {
  const Section* section = file.find_section(".gnu_debugaltlink");
  if (!section) return std::nullopt;
  const std::span<const uint8_t> bytes = file.section_bytes(*section);
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  const auto length = static_cast<size_t>(end - bytes.begin());
  if (end == bytes.end() || length == 0 || length > kLongestPath) return std::nullopt;
  const std::span<const uint8_t> id = bytes.subspan(length + 1);
  if (id.empty() || id.size() > 64) return std::nullopt;
  return AlternateLink{{reinterpret_cast<const char*>(bytes.data()), length}, to_hex(id)};
}

AlternateFile find_alternate_file(const ElfFile& debug, bool is_program, std::span<const SearchRoot> roots) {
  const auto link = alternate_link(debug);
  if (!link) return {};
  std::string others;
  for (const SearchRoot& root : roots) {
    const std::string& beside = is_program ? root.path : debug.path();
    for (const std::string& path : {build_id_path(link->build_id), whole_path(link->path, beside, root)}) {
      const Fd fd = path.empty() ? Fd() : open_in_root(root, path);
      if (!fd) continue;
      auto file = open_alternate(fd, (root.directory == "/" ? "" : root.directory) + path);
      if (file && file->build_id() == link->build_id) return {*std::move(file), ""};
      others = fmt::format("; {} is ignored: {}", path,
                           file ? "it is of another build (the build-ids differ)" : file.error().message());
    }
  }
  return {std::nullopt, fmt::format("{} needs what dwz has put into {} (build-id {}), which is not there{}",
                                    debug.path(), link->path, link->build_id, others)};
}

}  // namespace blip::elf
