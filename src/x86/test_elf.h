// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/mapping.h"

namespace blip::x86::test {

// The .text of a real program, at its file addresses, with the functions in it: just enough ELF for tests
// that want much real code.
struct TextOfFile {
  Mapping file;
  std::span<const uint8_t> text;
  TargetAddr base;
  struct Function {
    TargetAddr addr;
    uint64_t size;
  };
  std::vector<Function> functions;  // sorted by address, one per address

  struct Bytes {
    std::span<const uint8_t> bytes;
    TargetAddr addr;
  };
  Bytes bytes_of(size_t function) const;
  std::vector<TargetAddr> starts() const;
};

enum class FunctionsFrom { kSymbols, kUnwindTable };

// No text at all: the file does not exist or is no ELF file.
TextOfFile text_of_file(const std::string& path, FunctionsFrom source);

}  // namespace blip::x86::test
