// SPDX-License-Identifier: MIT
// Functions of texts.
#include <algorithm>
#include <cstdlib>

#include "script/blocks/library.h"

namespace blip::script {

namespace {

constexpr auto kNumber = state::ValueType::kNumber, kText = state::ValueType::kText;

void length(LibraryCall& call) { call.number = call.arguments[0].text.size(); }

void concat(LibraryCall& call) {
  call.text = call.arguments[0].text;
  call.text += call.arguments[1].text;
}

// (text, first, how many): what there is of it.
void substring(LibraryCall& call) {
  const auto a = call.arguments;
  const std::string_view whole = a[0].text;
  const auto first = static_cast<int64_t>(a[1].number), count = static_cast<int64_t>(a[2].number);
  if (first < 0 || count <= 0 || a[1].number >= whole.size()) return;
  call.text = whole.substr(a[1].number, a[2].number);
}

void contains(LibraryCall& call) {
  call.number = call.arguments[0].text.find(call.arguments[1].text) != std::string_view::npos;
}

// -1, 0 or 1, byte by byte.
uint64_t order_of(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return static_cast<uint64_t>(int64_t{order > 0} - int64_t{order < 0});
}

void compare(LibraryCall& call) { call.number = order_of(call.arguments[0].text, call.arguments[1].text); }

// The same of the first bytes, as many as said.
void compare_first(LibraryCall& call) {
  const auto a = call.arguments;
  call.number = order_of(a[0].text.substr(0, a[2].number), a[1].text.substr(0, a[2].number));
}

// The number that the text begins with, as C's strtoll() finds it.
void parse_number(LibraryCall& call) {
  const auto base = static_cast<int64_t>(call.arguments[1].number);
  if (base < 0 || base == 1 || base > 36) return;
  const std::string text(call.arguments[0].text);
  call.number = static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, static_cast<int>(base)));
}

void print_number(LibraryCall& call) {
  call.text = std::to_string(static_cast<int64_t>(call.arguments[0].number));
}

}  // namespace

std::span<const LibraryFunction> text_functions() {
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
