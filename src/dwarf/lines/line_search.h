// SPDX-License-Identifier: MIT
// From a source line to the code that was made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::dwarf {

// One source file whose name fits, and what one line of it became.
struct LineMatch {
  std::string path;                 // whole, as the compiler recorded it, without "." and ".."
  std::vector<FileAddr> addresses;  // where the line begins as a statement, all copies of it; sorted
  uint32_t line_before = 0;         // the nearest lines that have code; 0: none
  uint32_t line_after = 0;
};

struct LineSearch {
  std::vector<LineMatch> files;    // every file that fits and has code, sorted by path
  std::vector<std::string> names;  // of all other files with code, if none fits: to suggest from; sorted
};

struct SourceLine {
  std::string file;  // fits a path that ends with it, at a '/'
  uint32_t line = 0;
};

// Looks through all line tables of an ELF image, once for all lines; the results in their order. kNotFound:
// the image has no line tables.
Result<std::vector<LineSearch>> search_lines(std::span<const uint8_t> image,
                                             std::span<const SourceLine> lines);

}  // namespace blip::dwarf
