// SPDX-License-Identifier: MIT
#include "elf/mark_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/path.h"
#include "elf/match.h"

namespace blip::elf {
namespace {

constexpr size_t kMostParts = 3;

Error wrong(std::string_view text, std::string_view what) {
  return Error(ErrorKind::kUsage, fmt::format("'{}': {}", text, what));
}

bool glob_or_equal(std::string_view pattern, std::string_view text) {
  return pattern == text || (is_glob(pattern) && glob_match(pattern, text));
}

std::string with_underscores(std::string_view pattern) {
  std::string text;
  for (const char c : pattern) c == '-' ? text.append("__") : text.append(1, c);
  return text;
}

bool part_matches(std::string_view pattern, std::string_view text) {
  return glob_or_equal(pattern, text) ||
         (pattern.find('-') != std::string_view::npos && glob_or_equal(with_underscores(pattern), text));
}

}  // namespace

Result<Spec> parse_mark_spec(std::string_view text) {
  if (text.find_first_not_of(" \t\n:") == std::string_view::npos)
    return wrong(text, "the name of a mark is missing");
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(':', at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() > kMostParts) return wrong(text, "a mark is written [MODULE:]PROVIDER:NAME");
  Spec spec;
  spec.text = text;
  if (parts.size() == kMostParts && !parts.front().empty()) spec.module = parts.front();
  const auto or_all = [](std::string part) { return part.empty() ? "*" : part; };
  const std::string provider = parts.size() == 1 ? "*" : or_all(parts[parts.size() - 2]);
  spec.name = provider + ':' + or_all(parts.back());
  spec.kind = is_glob(spec.name) ? SpecKind::kGlob : SpecKind::kName;
  return spec;
}

bool matches(const Spec& spec, const Mark& mark) {
  const std::string_view both = spec.name;
  const size_t colon = both.find(':');
  return part_matches(both.substr(0, colon), mark.provider) &&
         part_matches(both.substr(colon + 1), mark.name);
}

bool names_module(const Spec& spec, std::string_view path) {
  if (!spec.module) return true;
  return *spec.module == path || path.ends_with("/" + *spec.module) ||
         module_matches(*spec.module, basename_of(path));
}

}  // namespace blip::elf
