// SPDX-License-Identifier: MIT
#include "base/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace blip {

namespace {

constexpr size_t kLongestCompared = 256;

}  // namespace

std::optional<size_t> edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > kLongestCompared || b.size() > kLongestCompared) return std::nullopt;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return std::nullopt;
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    if (*std::min_element(next.begin(), next.end()) > limit) return std::nullopt;
    std::swap(before, row);
    std::swap(row, next);
  }
  if (row[b.size()] > limit) return std::nullopt;
  return row[b.size()];
}

}  // namespace blip
