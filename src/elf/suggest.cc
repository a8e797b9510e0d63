// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "base/edit_distance.h"
#include "elf/demangle.h"
#include "elf/match.h"

namespace blip::elf {
namespace {

constexpr size_t kNone = std::string_view::npos;

size_t edit_distance_or_none(std::string_view a, std::string_view b, size_t limit) {
  return edit_distance(a, b, limit).value_or(kNone);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view last_component(std::string_view name) {
  size_t at = name.rfind("::");
  return at == kNone ? name : name.substr(at + 2);
}

// Smaller is nearer; kNone is not near at all. `wanted` and `name` in lower case.
size_t distance(std::string_view wanted, std::string_view name) {
  size_t limit = std::max<size_t>(1, wanted.size() / 3);
  size_t best = edit_distance_or_none(wanted, name, limit);
  std::string_view last = last_component(name);
  if (last.size() != name.size())
    best = std::min(best, edit_distance_or_none(last_component(wanted), last, limit));
  bool inside = wanted.size() >= 3 && name.find(wanted) != kNone;
  return inside ? std::min(best, limit) : best;
}

// True if three letters in a row of the wanted word, or both its ends, occur. This is cheap, and holds for
// similar names unless they are short.
bool shares_letters(std::string_view wanted, std::string_view mangled) {
  if (wanted.size() < 6) return true;
  for (size_t i = 0; i + 3 <= wanted.size(); ++i)
    if (mangled.find(wanted.substr(i, 3)) != kNone) return true;
  return mangled.find(wanted.substr(0, 2)) != kNone &&
         mangled.find(wanted.substr(wanted.size() - 2)) != kNone;
}

struct Near {
  size_t distance;
  size_t length;  // of equally near names the shorter is the better guess
  std::string name;
  auto operator<=>(const Near&) const = default;
};

}  // namespace

std::vector<std::string> suggest(std::string_view wanted, std::span<const Function> candidates, size_t n) {
  std::string plain;  // a glob's wildcards say nothing about nearness
  for (char c : lower(without_parameters(wanted)))
    if (c != '*' && c != '?') plain += c;
  std::set<Near> nearest;
  if (plain.empty() || n == 0) return {};
  for (const Function& candidate : candidates) {
    if (candidate.is_cold || !shares_letters(last_component(plain), lower(candidate.name))) continue;
    std::string name = without_parameters(demangle(candidate.name));
    size_t d = distance(plain, lower(name));
    if (d == kNone) continue;
    nearest.insert({d, name.size(), name});
    if (nearest.size() > n) nearest.erase(std::prev(nearest.end()));
  }
  std::vector<std::string> names;
  for (const Near& near : nearest) names.push_back(near.name);
  return names;
}

}  // namespace blip::elf
