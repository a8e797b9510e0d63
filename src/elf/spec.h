// SPDX-License-Identifier: MIT
// The SPEC of the command line: [MODULE:]NAME, [MODULE:]GLOB, SYMBOL+OFFSET, 0xADDR, FILE+0xOFF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace blip::elf {

enum class SpecKind {
  kName,          // name
  kGlob,          // name, with * ? [...]
  kSymbolOffset,  // name + offset
  kAddress,       // offset is a run-time address
};

struct Spec {
  SpecKind kind = SpecKind::kName;
  std::optional<std::string> module;  // as written; may be a glob ("*")
  std::string name;
  uint64_t offset = 0;
  std::string text;  // as the user wrote it
};

// A single ':' separates the module, never "::"; '+' starts an offset only before a number that ends the text
// (so operator+ and operator++ are names). Numbers: octal 0NNN, decimal, hex 0xNNN. FILE+0xOFF cannot be told
// from SYMBOL+OFFSET by its text: it is a kSymbolOffset whose name the resolver finds to be a module.
Result<Spec> parse_spec(std::string_view text);

}  // namespace blip::elf
