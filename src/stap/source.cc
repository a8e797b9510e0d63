// SPDX-License-Identifier: MIT
#include "stap/source.h"

#include <fmt/core.h>

#include <algorithm>

namespace blip::stap {

std::string describe(const Spot& spot) {
  if (spot.source == nullptr) return "<input>";
  const std::string_view before = std::string_view(spot.source->text).substr(0, spot.range.begin);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", spot.source->name, lines + 1, before.size() - line_begin + 1);
}

Error error_at(const Spot& spot, std::string_view message) {
  const std::string_view text = spot.source == nullptr ? std::string_view() : spot.source->text;
  return script::error_at(text, spot.range, fmt::format("{}: {}", describe(spot), message));
}

}  // namespace blip::stap
