// SPDX-License-Identifier: MIT
#include "cli/options/suggest.h"

#include "base/edit_distance.h"

namespace blip::cli {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  size_t limit = word.size() / 3;
  for (std::string_view candidate : candidates) {
    const auto distance = edit_distance(word, candidate, limit);
    if (!distance) continue;
    best = candidate;
    if (*distance == 0) break;
    limit = *distance - 1;
  }
  return best;
}

}  // namespace blip::cli
