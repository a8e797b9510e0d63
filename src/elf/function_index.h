// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf/match.h"
#include "elf/symbols.h"

namespace blip::elf {

// Finds functions by the names that are asked for, all of them in one pass over the table: for those who ask
// for many. It takes memory for what is asked, not for the table. The functions must outlive it.
class FunctionIndex {
 public:
  // `names`: of SPECs without a glob. Others are answered too, each by a pass of its own.
  FunctionIndex(std::span<const Function> functions, std::span<const std::string> names);

  // The functions that the matcher, of a SPEC without a glob, matches; in their order. Valid as long as the
  // index.
  std::span<const Function* const> matching(const FunctionMatcher& matcher);

 private:
  // Strings that are looked for at many places where hardly any of them is.
  class Wanted {
   public:
    void add(std::string text);
    // Null: it is not wanted.
    std::vector<uint32_t>* find(std::string_view text);

   private:
    struct Hash : std::hash<std::string_view> {
      using is_transparent = void;
    };
    static constexpr size_t kLengths = 256;

    std::bitset<kLengths> lengths_;  // of those that are wanted; the last is for all that are longer
    std::unordered_map<std::string, std::vector<uint32_t>, Hash, std::equal_to<>> entries_;
  };

  void add_words(std::string_view mangled, uint32_t index);
  std::vector<uint32_t> candidates_for(const FunctionMatcher& matcher);

  std::span<const Function> functions_;
  Wanted names_;
  Wanted words_;  // identifiers in mangled names: the parse of _ZN2ns5parseEv
  std::map<std::tuple<std::string, Scopes, Clones>, std::vector<const Function*>> answers_;
};

}  // namespace blip::elf
