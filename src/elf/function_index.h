// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf/match.h"
#include "elf/symbols.h"

namespace blip::elf {

// Finds functions by their names without looking at all of them: for those who ask for many. Making it takes
// about as long as a few scans. The functions must outlive it.
class FunctionIndex {
 public:
  explicit FunctionIndex(std::span<const Function> functions);

  // The functions that the matcher, of a SPEC without a glob, matches; in their order.
  std::vector<const Function*> matching(const FunctionMatcher& matcher) const;

 private:
  void add_words(std::string_view mangled, uint32_t index);

  std::span<const Function> functions_;
  std::unordered_multimap<std::string_view, uint32_t> by_name_;
  std::unordered_multimap<std::string_view, uint32_t> by_word_;  // "5parse" of _ZN2ns5parseEv
  std::vector<uint32_t> unindexed_;                              // mangled in other ways
};

}  // namespace blip::elf
