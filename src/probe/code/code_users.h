// SPDX-License-Identifier: MIT
// Who enters a piece of code: in a stripped file that tells a function from a part of one.
#pragma once

#include <vector>

#include "probe/code/module.h"
#include "probe/code/pieces.h"

namespace blip::probe {

// Decodes all code of the module: half a second for ten megabytes.
class CodeUsers {
 public:
  CodeUsers(const Module& module, const Pieces& pieces);

  // Some code calls it or takes its address.
  bool is_called(FileAddr address) const;
  // The pieces, by their starts, with a direct jump to an address in the range from outside of it; sorted.
  std::vector<FileAddr> jumpers_into(FileRange code) const;
  // A jump of the code at `from` leads into `to`, but not to its first address.
  bool jumps_inside(FileRange from, FileRange to) const;

 private:
  struct Jump {
    FileAddr target, from, piece;
  };
  std::vector<FileAddr> called_;  // sorted
  std::vector<Jump> jumps_;       // out of their pieces, sorted by target
};

}  // namespace blip::probe
