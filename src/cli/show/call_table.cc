// SPDX-License-Identifier: MIT
#include "cli/show/call_table.h"

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

using session::CallSummary;

std::vector<std::string> cells_of(const CallSummary& c, const RowNames& names) {
  const auto time = [&](uint64_t ns) { return c.calls == 0 ? std::string("-") : duration_text(ns); };
  return {names.of(c),
          std::to_string(c.calls),
          time(c.total_ns),
          time(c.mean_ns),
          time(c.p50_ns),
          time(c.p99_ns),
          time(c.max_ns),
          std::to_string(c.abandoned),
          c.open ? std::to_string(*c.open) : "-"};
}

}  // namespace

std::string duration_text(uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  struct Unit {
    const char* name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto time = static_cast<double>(ns);
  const auto unit =
      std::find_if(std::begin(kUnits), std::end(kUnits) - 1, [&](Unit u) { return time < 999.5 * u.ns; });
  const double value = time / unit->ns;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit->name);
}

std::string call_table(std::vector<CallSummary> calls, bool color, const TableLimits& limits) {
  const bool with_module = any_name_in_two_modules(calls);
  const RowNames names(calls);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallSummary& a, const CallSummary& b) { return a.total_ns > b.total_ns; });
  const size_t more = calls.size() - std::min(limits.rows, calls.size());
  calls.resize(calls.size() - more);
  std::vector<std::string> heading = {"NAME", "CALLS", "TOTAL",     "MEAN", "P50",
                                      "P99",  "MAX",   "ABANDONED", "OPEN"};
  std::vector<TextTable::Align> columns(heading.size(), TextTable::Align::kRight);
  columns.front() = TextTable::Align::kLeft;
  if (with_module) columns.insert(columns.begin(), TextTable::Align::kLeft);
  TextTable table(std::move(columns));
  const auto add = [&](std::vector<std::string> cells, std::string module, std::string_view paint) {
    if (with_module) cells.insert(cells.begin() + 1, std::move(module));
    table.add(std::move(cells), paint);
  };
  add(std::move(heading), "MODULE", kBold);
  for (const CallSummary& call : calls)
    add(cells_of(call, names), escaped(call.module), call.calls == 0 ? kDim : "");
  std::string out = table.text(color, limits.width);
  if (more != 0) out += fmt::format("({} more)\n", more);
  return out;
}

std::string call_json(const std::vector<CallSummary>& calls) {
  std::string out;
  for (const CallSummary& c : calls) {
    out += json_begin("latency");
    append_json_probe(out, c);
    out += fmt::format(
        ",\"calls\":{},\"total_ns\":{},\"mean_ns\":{},\"p50_ns\":{},\"p99_ns\":{},\"max_ns\":{},"
        "\"abandoned\":{},\"open\":{}}}\n",
        c.calls, c.total_ns, c.mean_ns, c.p50_ns, c.p99_ns, c.max_ns, c.abandoned,
        c.open ? std::to_string(*c.open) : "null");
  }
  return out;
}

}  // namespace blip::cli
