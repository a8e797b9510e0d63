// SPDX-License-Identifier: MIT
// The files that debugging information is read from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace blip {
class FileCache;
}

namespace blip::dwarf {

// Says where indexes of names are kept: docs/design/debug_index.md.
struct IndexCache {
  const FileCache* files = nullptr;         // null: nowhere; must outlive what is made with it
  uint64_t least_size = uint64_t{2} << 20;  // of .debug_info; what is smaller is searched as fast
};

// Whole ELF files; they must outlive what is made from them.
struct DebugImages {
  std::string name;                    // of the module, as users write it: "libfoo.so.1"
  std::span<const uint8_t> program;    // what is mapped: its frames count
  std::span<const uint8_t> debug;      // its separate debug file; empty: the program has all
  std::span<const uint8_t> alternate;  // what dwz has put apart (.gnu_debugaltlink); empty: not found
  // May the file of this path, named by the debugging information, be opened (.dwo)? It must be a regular
  // one. Without this none is.
  std::function<bool(const std::string& path)> may_open;
  IndexCache cache = {};
};

}  // namespace blip::dwarf
