// SPDX-License-Identifier: MIT
#include "dwarf/units/integer_names.h"

#include <array>

namespace blip::dwarf {

namespace {

struct Words {
  int longs = 0, shorts = 0, ints = 0, chars = 0, is_signed = 0, is_unsigned = 0;
  bool is_fine = true;

  void add(std::string_view word) {
    if (word == "long")
      ++longs;
    else if (word == "short")
      ++shorts;
    else if (word == "int")
      ++ints;
    else if (word == "char")
      ++chars;
    else if (word == "signed")
      ++is_signed;
    else if (word == "unsigned")
      ++is_unsigned;
    else
      is_fine = false;
  }
};

Words words_of(std::string_view name) {
  Words words;
  while (!name.empty()) {
    const size_t end = std::min(name.find(' '), name.size());
    if (end > 0) words.add(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

}  // namespace

std::vector<std::string> integer_spellings(std::string_view name) {
  const Words w = words_of(name);
  if (!w.is_fine || name.empty() || (w.is_signed && w.is_unsigned)) return {};
  if (w.chars) {
    if (w.is_unsigned) return {"unsigned char"};
    if (w.is_signed) return {"signed char"};
    return {"char"};
  }
  // gcc writes the first form, clang the second.
  if (w.shorts)
    return w.is_unsigned ? std::vector<std::string>{"short unsigned int", "unsigned short"}
                         : std::vector<std::string>{"short int", "short"};
  if (w.longs > 1)
    return w.is_unsigned ? std::vector<std::string>{"long long unsigned int", "unsigned long long"}
                         : std::vector<std::string>{"long long int", "long long"};
  if (w.longs)
    return w.is_unsigned ? std::vector<std::string>{"long unsigned int", "unsigned long"}
                         : std::vector<std::string>{"long int", "long"};
  return w.is_unsigned ? std::vector<std::string>{"unsigned int"} : std::vector<std::string>{"int"};
}

}  // namespace blip::dwarf
