// SPDX-License-Identifier: MIT
#include "cli/count_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "cli/color.h"
#include "cli/escape.h"
#include "cli/event_json.h"
#include "cli/row_names.h"

namespace blip::cli {
namespace {

using session::ProbeCount;

bool any_name_in_two_modules(const std::vector<ProbeCount>& counts) {
  std::unordered_map<std::string_view, std::string_view> module_of;
  for (const ProbeCount& count : counts) {
    const auto [found, is_new] = module_of.try_emplace(count.name, count.module);
    if (!is_new && found->second != count.module) return true;
  }
  return false;
}

struct Row {
  std::string name, module, hits;
  std::string_view color;  // of the line
};

}  // namespace

std::string count_table(std::vector<ProbeCount> counts, bool color) {
  const bool with_module = any_name_in_two_modules(counts);
  std::stable_sort(counts.begin(), counts.end(), [](const ProbeCount& a, const ProbeCount& b) {
    if (a.in_sequence || b.in_sequence) return !a.in_sequence && b.in_sequence;
    return a.hits > b.hits;
  });
  const RowNames names(counts);
  std::vector<Row> rows = {{"NAME", "MODULE", "HITS", kBold}};
  for (const ProbeCount& count : counts)
    rows.push_back(
        {names.of(count), escaped(count.module), std::to_string(count.hits), count.hits == 0 ? kDim : ""});
  Row widest;
  const auto widen = [](std::string& to, const std::string& by) {
    to.resize(std::max(to.size(), by.size()));
  };
  for (const Row& row : rows) {
    widen(widest.name, row.name);
    widen(widest.module, row.module);
    widen(widest.hits, row.hits);
  }
  std::string out;
  for (const Row& row : rows) {
    const bool colored = color && !row.color.empty();
    if (colored) out += row.color;
    out += fmt::format("{:<{}}  ", row.name, widest.name.size());
    if (with_module) out += fmt::format("{:<{}}  ", row.module, widest.module.size());
    out += fmt::format("{:>{}}{}\n", row.hits, widest.hits.size(), colored ? kPlain : "");
  }
  return out;
}

std::string count_json(const std::vector<ProbeCount>& counts) {
  std::string out;
  for (const ProbeCount& count : counts) {
    out += json_begin("count") + ",\"name\":";
    append_json_string(out, count.name);
    out += ",\"module\":";
    append_json_string(out, count.module);
    append_json_filter(out, count);
    out += fmt::format(",\"hits\":{}}}\n", count.hits);
  }
  return out;
}

}  // namespace blip::cli
