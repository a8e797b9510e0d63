// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"
#include "elf/search_root.h"

namespace blip::elf {

// .gnu_debugaltlink: where dwz has put what the debugging information of several files has in common.
struct AlternateLink {
  std::string_view path;  // never empty; may be relative to the file's directory
  std::string build_id;   // in hex; never empty

  bool operator==(const AlternateLink&) const = default;
};

// Nothing where there is no such section, or a malformed one.
std::optional<AlternateLink> alternate_link(const ElfFile& file);

struct AlternateFile {
  std::optional<ElfFile> file;
  std::string missing;  // why there is none, though one is named
};

// The one that `debug` names: by its build-id, else by its path, in each root in turn. Its build-id must be
// the one named. `is_program`: the file is the one whose paths the roots have, not a separate debug file.
AlternateFile find_alternate_file(const ElfFile& debug, bool is_program, std::span<const SearchRoot> roots);

}  // namespace blip::elf
