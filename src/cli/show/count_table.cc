// SPDX-License-Identifier: MIT
#include "cli/show/count_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/output/text_table.h"
#include "cli/show/event_json.h"
#include "cli/show/row_names.h"

namespace blip::cli {
namespace {

using session::ProbeCount;

}  // namespace

std::string count_table(std::vector<ProbeCount> counts, bool color, size_t width) {
  const bool with_module = any_name_in_two_modules(counts);
  std::stable_sort(counts.begin(), counts.end(), [](const ProbeCount& a, const ProbeCount& b) {
    if (a.in_sequence || b.in_sequence) return !a.in_sequence && b.in_sequence;
    return a.hits > b.hits;
  });
  const RowNames names(counts);
  using enum TextTable::Align;
  TextTable table(with_module ? std::vector{kLeft, kLeft, kRight} : std::vector{kLeft, kRight});
  const auto add = [&](std::string name, std::string module, std::string hits, std::string_view paint) {
    std::vector<std::string> cells = {std::move(name), std::move(hits)};
    if (with_module) cells.insert(cells.begin() + 1, std::move(module));
    table.add(std::move(cells), paint);
  };
  add("NAME", "MODULE", "HITS", kBold);
  for (const ProbeCount& count : counts)
    add(names.of(count), escaped(count.module), std::to_string(count.hits), count.hits == 0 ? kDim : "");
  return table.text(color, width);
}

std::string count_json(const std::vector<ProbeCount>& counts) {
  std::string out;
  for (const ProbeCount& count : counts) {
    out += json_begin("count");
    append_json_probe(out, count);
    out += fmt::format(",\"hits\":{}}}\n", count.hits);
  }
  return out;
}

}  // namespace blip::cli
