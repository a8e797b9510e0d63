// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "elf/match.h"

namespace blip::elf {
namespace {

constexpr size_t kNone = std::string_view::npos;

// A [...] at the start of a pattern: its length with both brackets, and whether it takes the character.
struct ClassMatch {
  size_t length;
  bool matches;
};

// A ']' that comes first is a member; without a closing one it is no class. ABI tags are names, not classes.
size_t class_length(std::string_view pattern) {
  if (pattern.starts_with("[abi:")) return 0;
  size_t first = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^') ? 2 : 1;
  size_t close = pattern.find(']', first + 1);
  return close == kNone ? 0 : close + 1;
}

std::optional<ClassMatch> match_class(std::string_view pattern, char c) {
  size_t length = class_length(pattern);
  if (length == 0) return std::nullopt;
  std::string_view members = pattern.substr(1, length - 2);
  bool negated = members[0] == '!' || members[0] == '^';
  if (negated) members.remove_prefix(1);
  bool found = false;
  for (size_t i = 0; i < members.size(); ++i) {
    bool is_range = i + 2 < members.size() && members[i + 1] == '-';
    auto low = static_cast<unsigned char>(members[i]);
    auto high = static_cast<unsigned char>(members[is_range ? i + 2 : i]);
    auto value = static_cast<unsigned char>(c);
    found |= low <= value && value <= high;
    if (is_range) i += 2;
  }
  return ClassMatch{length, found != negated};
}

// The length of the part of the pattern that matches this one character (never '*'), or nullopt.
std::optional<size_t> match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[')
    if (auto result = match_class(pattern, c))
      return result->matches ? std::optional(result->length) : std::nullopt;
  bool escaped = pattern[0] == '\\' && pattern.size() > 1;
  if (pattern[escaped ? 1 : 0] != c) return std::nullopt;
  return escaped ? 2 : 1;
}

}  // namespace

bool is_glob(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '*' || text[i] == '?')
      return true;
    else if (text[i] == '[' && class_length(text.substr(i)) > 0)
      return true;
  }
  return false;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = kNone, resume = 0;  // where to go on when the last '*' takes one character more
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
      continue;
    }
    auto taken = p < pattern.size() ? match_one(pattern.substr(p), text[t]) : std::nullopt;
    if (taken) {
      p += *taken;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

bool module_matches(std::string_view pattern, std::string_view basename) {
  if (glob_match(pattern, basename)) return true;
  for (size_t so = basename.find(".so"); so != kNone; so = basename.find(".so", so + 1)) {
    std::string_view rest = basename.substr(so + 3);
    if (!rest.empty() && rest[0] != '.') continue;
    if (glob_match(pattern, basename.substr(0, so))) return true;
    for (size_t dot = so + 3; dot != kNone && dot < basename.size(); dot = basename.find('.', dot + 1))
      if (glob_match(pattern, basename.substr(0, dot))) return true;
    return false;
  }
  return false;
}

}  // namespace blip::elf
