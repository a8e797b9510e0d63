// SPDX-License-Identifier: MIT
#include "script/types/diagnostics.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace blip::script {

namespace {

constexpr std::string_view kIndent = "  ";

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }  // of UTF-8

size_t character_at_or_before(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && !starts_character(text[at])) --at;
  return at;
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// Control characters would move the line below away from what it underlines, or steer the terminal: names in
// messages come from files that may be hostile.
std::string printable(std::string_view line) {
  std::string result(line);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return result;
}

// How many characters must change to make one of the other, at most.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

Error error_at(std::string_view source, Range range, std::string_view message) {
  const size_t begin = std::min<size_t>(range.begin, source.size());
  const size_t before = begin == 0 ? std::string_view::npos : source.rfind('\n', begin - 1);
  size_t first = before == std::string_view::npos ? 0 : before + 1;
  size_t last = std::min(source.find('\n', begin), source.size());
  // If a terminal has no room for the line, only the part around the place is shown.
  constexpr size_t kBefore = 40, kBehind = 80;
  if (begin - first > kBefore && last - first > kBefore + kBehind)
    first = character_at_or_before(source, begin - kBefore);
  if (last - begin > kBehind) last = character_at_or_before(source, begin + kBehind);
  const size_t end = std::clamp<size_t>(range.end, begin, last);
  const size_t width = std::max<size_t>(1, columns(source.substr(begin, end - begin)));
  return Error(ErrorKind::kUsage, fmt::format("{}\n{}{}\n{}{}^{}", printable(message), kIndent,
                                              printable(source.substr(first, last - first)), kIndent,
                                              std::string(columns(source.substr(first, begin - first)), ' '),
                                              std::string(width - 1, '~')));
}

Error refusal(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

Error place_error(std::string_view source, Range range, const Error& error) {
  return error.kind() == ErrorKind::kInvalid ? error_at(source, range, error.message()) : error;
}

std::string list_names(std::vector<std::string> names, std::string_view wanted) {
  constexpr size_t kMost = 12, kLongest = 64;
  std::erase_if(names, [](const std::string& n) { return n.empty(); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto near = [&](const std::string& name) {
    if (name.size() > kLongest || wanted.size() > kLongest) return false;
    return distance(name, wanted) <= std::max<size_t>(1, wanted.size() / 3) || name.starts_with(wanted);
  };
  std::stable_partition(names.begin(), names.end(), near);
  const size_t shown = std::min(names.size(), kMost);
  std::string result =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (shown < names.size()) result += fmt::format(" and {} more", names.size() - shown);
  return result;
}

}  // namespace blip::script
