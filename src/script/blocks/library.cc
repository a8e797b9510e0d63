// SPDX-License-Identifier: MIT
#include "script/blocks/library.h"

#include <algorithm>
#include <cstdlib>

namespace blip::script {

namespace {

using Arguments = std::span<const Argument>;
constexpr auto kNumber = state::ValueType::kNumber, kText = state::ValueType::kText;

void length(Arguments a, uint64_t& number, std::string&) { number = a[0].text.size(); }

void concat(Arguments a, uint64_t&, std::string& text) {
  text = a[0].text;
  text += a[1].text;
}

// (text, first, how many): what there is of it.
void substring(Arguments a, uint64_t&, std::string& text) {
  const std::string_view whole = a[0].text;
  const auto first = static_cast<int64_t>(a[1].number), count = static_cast<int64_t>(a[2].number);
  if (first < 0 || count <= 0 || a[1].number >= whole.size()) return;
  text = whole.substr(a[1].number, a[2].number);
}

void contains(Arguments a, uint64_t& number, std::string&) {
  number = a[0].text.find(a[1].text) != std::string_view::npos;
}

// -1, 0 or 1, byte by byte.
void compare(Arguments a, uint64_t& number, std::string&) {
  const int order = a[0].text.compare(a[1].text);
  number = static_cast<uint64_t>(int64_t{order > 0} - int64_t{order < 0});
}

// The same of the first bytes, as many as said.
void compare_first(Arguments a, uint64_t& number, std::string& text) {
  const Argument cut[] = {{.text = a[0].text.substr(0, a[2].number)},
                          {.text = a[1].text.substr(0, a[2].number)}};
  compare(cut, number, text);
}

// The number that the text begins with, as C's strtoll() finds it.
void parse_number(Arguments a, uint64_t& number, std::string&) {
  const auto base = static_cast<int64_t>(a[1].number);
  if (base < 0 || base == 1 || base > 36) return;
  number =
      static_cast<uint64_t>(std::strtoll(std::string(a[0].text).c_str(), nullptr, static_cast<int>(base)));
}

void print_number(Arguments a, uint64_t&, std::string& text) {
  text = std::to_string(static_cast<int64_t>(a[0].number));
}

}  // namespace

const std::vector<LibraryFunction>& library() {
  static const std::vector<LibraryFunction> kAll = {
      {"length", {kText}, kNumber, length},
      {"concat", {kText, kText}, kText, concat},
      {"substring", {kText, kNumber, kNumber}, kText, substring},
      {"contains", {kText, kText}, kNumber, contains},
      {"compare", {kText, kText}, kNumber, compare},
      {"compare_first", {kText, kText, kNumber}, kNumber, compare_first},
      {"parse_number", {kText, kNumber}, kNumber, parse_number},
      {"print_number", {kNumber}, kText, print_number},
  };
  return kAll;
}

}  // namespace blip::script
