// SPDX-License-Identifier: MIT
// What print(), printf() and their kin take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stap/source.h"

namespace blip::stap {

struct PrintKind {
  std::string_view name;
  bool is_text = false;        // sprintf: the value is the text, and nothing is printed
  bool has_format = false;     // printf
  bool has_delimiter = false;  // printd
  bool has_newline = false;    // println
  bool is_char = false;        // print_char

  bool takes_histogram() const { return !has_format && !has_delimiter && !is_char; }
};

const PrintKind* find_print(std::string_view name);  // null: none

// A conversion of printf(), or the text between two of them.
struct Directive {
  enum class Kind : uint8_t { kLiteral, kNumber, kPointer, kText, kCharacter, kBinary, kMemory, kMemoryHex };
  Kind kind = Kind::kLiteral;
  std::string literal{};
  bool is_signed = false, is_upper = false;
  bool pads_zero = false, has_plus = false, is_left = false, has_space = false, is_special = false;
  unsigned base = 10;
  std::optional<int> width{}, precision{};
  bool takes_width = false, takes_precision = false;  // *: from an argument

  bool operator==(const Directive&) const = default;
};

Result<std::vector<Directive>> parse_format(std::string_view format);
Status check_format(std::string_view format, const Spot& spot);

}  // namespace blip::stap
