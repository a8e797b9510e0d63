// SPDX-License-Identifier: MIT
// Answers questions about a mangled name without demangling it, which takes a hundred times as long.
#pragma once

#include <optional>
#include <string_view>

#include "elf/demangle.h"

namespace blip::elf {

// Calls visit(text) for whatever may be an identifier in a mangled name, the parse of _ZN2ns5parseEv. Each
// digit is taken for the beginning of a length (the 5 of _ZN2v85parseEv too), so too many are found that way,
// never too few. Rust counts type arguments in ("20drop_in_place$LT$u8$GT$"): what is before them is another
// identifier. Its v0 scheme may put a '_' behind the length.
template <typename Visit>
void for_each_identifier(std::string_view mangled, Visit visit) {
  const auto is_digit = [&](size_t i) { return mangled[i] >= '0' && mangled[i] <= '9'; };
  for (size_t begin = 0; begin < mangled.size(); ++begin) {
    if (!is_digit(begin)) continue;
    size_t at = begin;
    size_t length = 0;
    for (; at < mangled.size() && is_digit(at) && length <= mangled.size(); ++at)
      length = length * 10 + static_cast<size_t>(mangled[at] - '0');
    if (length == 0 || length > mangled.size() - at) continue;
    const std::string_view whole = mangled.substr(at, length);
    visit(whole);
    if (const size_t dollar = whole.find('$'); dollar != std::string_view::npos && dollar != 0)
      visit(whole.substr(0, dollar));
    if (whole[0] == '_' && length < mangled.size() - at) visit(mangled.substr(at + 1, length));
  }
}

// The identifier that the qualified name of a function ends with, "parse" for ns::parse(int) and for
// parse<int>(int);
// "~" for a destructor. Nothing where the name is not as simple as most are.
std::optional<std::string_view> last_identifier(std::string_view mangled);

}  // namespace blip::elf
