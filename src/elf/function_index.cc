// SPDX-License-Identifier: MIT
// A plain name is looked up as it stands in the symbol table, and, for mangled names, by the one word that
// every mangled form of it must contain (function_matcher.cc): an identifier with its length in front. Names
// are cut into such words without understanding the mangling: each digit is taken for the beginning of a
// length (the 5 of _ZN2v85parseEv too). Too many words are found that way, never too few, and the matcher has
// the last say.
#include "elf/function_index.h"

#include <algorithm>

#include "elf/demangle.h"

namespace blip::elf {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

FunctionIndex::FunctionIndex(std::span<const Function> functions) : functions_(functions) {
  by_name_.reserve(functions.size());
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const std::string_view name = functions[i].name;
    by_name_.emplace(name, i);
    if (!is_mangled(name)) continue;
    if (FunctionMatcher::has_words(name)) {
      add_words(name, i);
    } else {
      unindexed_.push_back(i);
    }
  }
}

void FunctionIndex::add_words(std::string_view mangled, uint32_t index) {
  for (size_t begin = 0; begin < mangled.size(); ++begin) {
    if (!is_digit(mangled[begin])) continue;
    size_t at = begin;
    size_t length = 0;
    for (; at < mangled.size() && is_digit(mangled[at]); ++at)
      length = std::min<size_t>(length * 10 + static_cast<size_t>(mangled[at] - '0'), mangled.size());
    if (length != 0 && length <= mangled.size() - at)
      by_word_.emplace(mangled.substr(begin, at - begin + length), index);
  }
}

std::vector<const Function*> FunctionIndex::matching(const FunctionMatcher& matcher) const {
  std::vector<uint32_t> candidates = unindexed_;
  const auto add = [&](const auto& range) {
    for (auto entry = range.first; entry != range.second; ++entry) candidates.push_back(entry->second);
  };
  add(by_name_.equal_range(matcher.name()));
  const auto word = matcher.word_with_length();
  if (word) {
    add(by_word_.equal_range(*word));
  } else {
    for (uint32_t i = 0; i < functions_.size(); ++i)  // _Znwm has no word at all
      if (is_mangled(functions_[i].name)) candidates.push_back(i);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::vector<const Function*> found;
  for (uint32_t i : candidates)
    if (matcher.matches(functions_[i])) found.push_back(&functions_[i]);
  return found;
}

}  // namespace blip::elf
