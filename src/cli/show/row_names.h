// SPDX-License-Identifier: MIT
// Shared by the tables that have a row per probe.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cli/output/escape.h"

namespace blip::cli {

// Then the table needs a column for the modules.
template <typename Row>
bool any_name_in_two_modules(const std::vector<Row>& rows) {
  std::unordered_map<std::string_view, std::string_view> module_of;
  for (const Row& row : rows) {
    const auto [found, is_new] = module_of.try_emplace(row.name, row.module);
    if (!is_new && found->second != row.module) return true;
  }
  return false;
}

// The first column. Several probes at one function are told apart by their filters, several functions of one
// name by their addresses.
class RowNames {
 public:
  template <typename Row>
  explicit RowNames(const std::vector<Row>& rows) {
    std::unordered_map<std::string_view, std::string_view> filters;
    std::map<Same, uint64_t> addresses;
    for (const Row& row : rows) {
      const auto [known, is_new] = filters.try_emplace(row.name, row.filter);
      if (!is_new && known->second != row.filter) by_filter_.insert(row.name);
      if (!row.address) continue;
      const Same same{row.name, row.module, row.filter};
      const auto [there, is_first] = addresses.try_emplace(same, *row.address);
      if (!is_first && there->second != *row.address) by_address_.insert(std::get<0>(same));
    }
  }

  template <typename Row>
  std::string of(const Row& row) const {
    std::string name = escaped(row.name);
    if (row.address && by_address_.contains(row.name))
      fmt::format_to(std::back_inserter(name), " at {:#x}", *row.address);
    if (row.filter.empty() || !by_filter_.contains(row.name)) return name;
    return fmt::format("{} if {}", name, escaped(row.filter));
  }

 private:
  using Same = std::tuple<std::string, std::string, std::string>;  // name, module, filter

  std::set<std::string, std::less<>> by_filter_, by_address_;
};

// `name`, `module`, `address` and `filter`, as far as the row has them.
template <typename Row>
void append_json_probe(std::string& out, const Row& row) {
  out += ",\"name\":";
  append_json_string(out, row.name);
  out += ",\"module\":";
  append_json_string(out, row.module);
  if (row.address) fmt::format_to(std::back_inserter(out), ",\"address\":{}", *row.address);
  if (row.filter.empty()) return;
  out += ",\"filter\":";
  append_json_string(out, row.filter);
}

}  // namespace blip::cli
