// SPDX-License-Identifier: MIT
#include "cli/help/completion.h"

#include <fmt/format.h>

#include <algorithm>

namespace blip::cli {

std::string menu_text(std::string_view text) {
  constexpr size_t kLongest = 70;
  size_t end = std::min({text.find(": "), text.find(". "), text.find(" ("), text.size()});
  if (end > kLongest) end = text.rfind(' ', kLongest);
  std::string out(text.substr(0, end));
  std::erase_if(out, [](char c) { return c == '\'' || c == '`' || c == '[' || c == ']' || c == '"'; });
  return out;
}

std::vector<std::string> spellings(const OptionFact& fact) {
  std::vector<std::string> all;
  for (char letter : fact.short_names) all.push_back(fmt::format("-{}", letter));
  if (!fact.long_name.empty()) all.push_back(fmt::format("--{}", fact.long_name));
  return all;
}

bool is_repeatable(const OptionFact& fact) { return fact.help.find("epeatable") != std::string_view::npos; }

}  // namespace blip::cli
