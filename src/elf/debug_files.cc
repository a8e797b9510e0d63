// SPDX-License-Identifier: MIT
#include "elf/debug_files.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/fd.h"
#include "elf/debug_link.h"
#include "elf/mini_debug.h"
#include "elf/search_root.h"

namespace blip::elf {
namespace {

bool has_symtab(const ElfFile& file) {
  return std::any_of(file.sections().begin(), file.sections().end(),
                     [](const Section& s) { return s.type == SHT_SYMTAB && s.size > 0; });
}

class DebugFileFinder {
 public:
  explicit DebugFileFinder(const ElfFile& file)
      : file_(file), build_id_(file.build_id()), link_(debug_link(file)) {}

  DebugFiles run(std::span<const SearchRoot> roots) {
    for (const SearchRoot& root : roots)
      if (by_build_id(root) || by_link(root)) return std::move(found_);
    inside();
    return std::move(found_);
  }

 private:
  bool by_build_id(const SearchRoot& root) {
    const std::string path = build_id_path(build_id_);
    return !path.empty() && try_path(root, path, std::nullopt);
  }

  bool by_link(const SearchRoot& root) {
    if (!link_ || root.path.empty()) return false;
    const std::string directory = root.path.substr(0, root.path.rfind('/'));
    for (const std::string& place : {directory, directory + "/.debug", kDebugDirectory + directory})
      if (try_path(root, fmt::format("{}/{}", place, link_->name), link_->crc)) return true;
    return false;
  }

  void inside() {
    auto inner = mini_debug_file(file_);
    if (!inner)
      found_.notes.push_back(inner.error().message());
    else if (*inner)
      found_.files.push_back(**std::move(inner));
  }

  bool try_path(const SearchRoot& root, const std::string& path, std::optional<uint32_t> crc) {
    Fd fd = open_in_root(root, path);
    if (!fd) return false;
    auto file = ElfFile::from_fd(fd, (root.directory == "/" ? "" : root.directory) + path);
    std::string wrong = file ? misfit(*file, crc) : file.error().message();
    if (wrong.empty()) {
      found_.files.push_back(*std::move(file));
      return true;
    }
    found_.notes.push_back(fmt::format("{} is ignored: {}", path, wrong));
    return false;
  }

  // Why it does not belong to the file; empty if it does. A link may name the file itself: it has no symbols.
  std::string misfit(const ElfFile& candidate, std::optional<uint32_t> crc) const {
    const std::string id = candidate.build_id();
    if (id != build_id_ && !(id.empty() && crc)) return "it is of another build (the build-ids differ)";
    if (!has_symtab(candidate)) return "it has no symbols";
    if (crc && file_crc(candidate) != *crc) return "it is not the one the program names (the CRC differs)";
    return {};
  }

  const ElfFile& file_;
  std::string build_id_;
  std::optional<DebugLink> link_;
  DebugFiles found_;
};

}  // namespace

DebugFiles find_debug_files(const ElfFile& file, std::span<const SearchRoot> roots) {
  if (has_symtab(file) && (file.find_section(".debug_line") || !debug_link(file))) return {};
  return DebugFileFinder(file).run(roots);
}

}  // namespace blip::elf
