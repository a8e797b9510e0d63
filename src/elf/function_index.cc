// SPDX-License-Identifier: MIT
// A plain name is looked up as it stands in the symbol table, and, for mangled names, by one word that every
// mangled form of it must contain (function_matcher.cc). The matcher has the last say.
#include "elf/function_index.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "elf/demangle.h"
#include "elf/mangled_name.h"

namespace blip::elf {

namespace {

std::string word_of(const std::string& name) {
  Spec spec;
  spec.name = name;
  return FunctionMatcher(spec).word();
}

}  // namespace

void FunctionIndex::Wanted::add(std::string text) {
  if (text.empty()) return;
  lengths_.set(std::min(text.size(), kLengths - 1));
  entries_.try_emplace(std::move(text));
}

std::vector<uint32_t>* FunctionIndex::Wanted::find(std::string_view text) {
  if (!lengths_[std::min(text.size(), kLengths - 1)]) return nullptr;
  const auto entry = entries_.find(text);
  return entry == entries_.end() ? nullptr : &entry->second;
}

FunctionIndex::FunctionIndex(std::span<const Function> functions, std::span<const std::string> names)
    : functions_(functions) {
  for (const std::string& name : names) {
    names_.add(name);
    words_.add(word_of(name));
  }
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const std::string_view name = functions[i].name;
    if (auto* same = names_.find(name)) same->push_back(i);
    if (const std::string_view base = without_clone_suffix(name); base.size() != name.size())
      if (auto* same = names_.find(base)) same->push_back(i);
    if (is_mangled(name)) add_words(name, i);
  }
}

void FunctionIndex::add_words(std::string_view mangled, uint32_t index) {
  for_each_identifier(mangled, [&](std::string_view word) {
    if (auto* same = words_.find(word); same && (same->empty() || same->back() != index))
      same->push_back(index);
  });
}

// All of them where the name was not asked for, or has no word at all, as operator new.
std::vector<uint32_t> FunctionIndex::candidates_for(const FunctionMatcher& matcher) {
  const std::vector<uint32_t>* by_name = names_.find(matcher.name());
  const std::vector<uint32_t>* by_word = words_.find(matcher.word());
  std::vector<uint32_t> candidates;
  if (by_name && by_word) {
    std::set_union(by_name->begin(), by_name->end(), by_word->begin(), by_word->end(),
                   std::back_inserter(candidates));
    return candidates;
  }
  candidates.resize(functions_.size());
  std::iota(candidates.begin(), candidates.end(), 0);
  return candidates;
}

std::span<const Function* const> FunctionIndex::matching(const FunctionMatcher& matcher) {
  const auto [answer, is_new] = answers_.try_emplace({matcher.name(), matcher.scopes(), matcher.clones()});
  if (!is_new) return answer->second;
  for (const uint32_t i : candidates_for(matcher))
    if (matcher.matches(functions_[i])) answer->second.push_back(&functions_[i]);
  return answer->second;
}

}  // namespace blip::elf
