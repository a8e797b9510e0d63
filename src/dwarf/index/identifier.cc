// SPDX-License-Identifier: MIT
#include "dwarf/index/identifier.h"

#include <cstddef>

namespace blip::dwarf {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The offset at which "operator" stands as a word, or npos.
size_t find_operator(std::string_view name) {
  constexpr std::string_view kWord = "operator";
  const size_t at = name.rfind(kWord);
  if (at == std::string_view::npos || (at > 0 && is_word(name[at - 1]))) return std::string_view::npos;
  return at + kWord.size() < name.size() && is_word(name[at + kWord.size()]) ? std::string_view::npos : at;
}

}  // namespace

std::string_view identifier_in(std::string_view name) {
  if (const size_t at = find_operator(name); at != std::string_view::npos) return name.substr(at);
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (depth == 0 && name.compare(i, 2, "::") == 0) begin = i + 2;
  }
  name.remove_prefix(begin);
  return name.substr(0, name.find('<'));
}

}  // namespace blip::dwarf
