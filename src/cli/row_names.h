// SPDX-License-Identifier: MIT
// The first column of tables with a row per probe.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/escape.h"

namespace blip::cli {

// Several probes at one function are told apart by their filters.
class RowNames {
 public:
  template <typename Row>
  explicit RowNames(const std::vector<Row>& rows) {
    std::unordered_map<std::string_view, std::string_view> filters;
    for (const Row& row : rows) {
      const auto [known, is_new] = filters.try_emplace(row.name, row.filter);
      if (!is_new && known->second != row.filter) by_filter_.insert(row.name);
    }
  }

  template <typename Row>
  std::string of(const Row& row) const {
    const std::string name = escaped(row.name);
    if (row.filter.empty() || !by_filter_.contains(row.name)) return name;
    return fmt::format("{} if {}", name, escaped(row.filter));
  }

 private:
  std::set<std::string> by_filter_;
};

template <typename Row>
void append_json_filter(std::string& out, const Row& row) {
  if (row.filter.empty()) return;
  out += ",\"filter\":";
  append_json_string(out, row.filter);
}

}  // namespace blip::cli
