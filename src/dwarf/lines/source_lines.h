// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/addr.h"
#include "base/result.h"

namespace blip::dwarf {

struct SourceLine {
  std::string file;  // with its directory, as the compiler recorded it
  uint32_t line = 0;
};

// The line tables (.debug_line) of one file, its own or those of its separate debug file: addresses are the
// same in both. Tables are decoded when an address of theirs is asked for. Used by one thread.
class SourceLines {
 public:
  // The whole ELF file, which must outlive this. kNotFound: it has no line tables, or none that can be read.
  static Result<SourceLines> open(std::span<const uint8_t> image);

  SourceLines(SourceLines&&) noexcept;
  SourceLines& operator=(SourceLines&&) noexcept;
  ~SourceLines();

  // The source line of the code at the address; nullopt if the tables do not give it.
  std::optional<SourceLine> find(FileAddr address) const;

 private:
  struct Tables;
  explicit SourceLines(std::unique_ptr<Tables> tables);

  std::unique_ptr<Tables> tables_;
};

}  // namespace blip::dwarf
