// SPDX-License-Identifier: MIT
// From an address of a backtrace to the functions that the programmer wrote: one that was compiled, and those
// inlined into it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::dwarf {

struct SourceFrame {
  std::string function;      // with its namespaces and classes, without parameters; empty: not known
  std::string linkage_name;  // mangled, where it has one
  std::string file;          // with its directory, as the compiler recorded it; empty: not known
  uint32_t line = 0;         // where the code is; of all but the first, where the frame before is called
  bool is_inlined = false;   // into the next one
};

// The debugging information of one file, its own or that of its separate debug file. Read as far as it is
// asked for. Used by one thread.
class InlinedFrames {
 public:
  // The whole ELF file, and what dwz has put apart of it, if that was found: they must outlive this.
  // kNotFound: it has no debugging information.
  static Result<InlinedFrames> open(std::span<const uint8_t> image, std::span<const uint8_t> alternate = {});

  InlinedFrames(InlinedFrames&&) noexcept;
  InlinedFrames& operator=(InlinedFrames&&) noexcept;
  ~InlinedFrames();

  // Returns the innermost frame first; the last one is not inlined. For a return address, ask for the byte
  // before it. Empty if nothing is known.
  std::vector<SourceFrame> find(FileAddr address) const;

 private:
  struct Tables;
  explicit InlinedFrames(std::unique_ptr<Tables> tables);

  std::unique_ptr<Tables> tables_;
};

}  // namespace blip::dwarf
