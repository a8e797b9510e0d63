// SPDX-License-Identifier: MIT
#include "cli/call_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "cli/color.h"
#include "cli/escape.h"
#include "cli/event_json.h"
#include "cli/row_names.h"

namespace blip::cli {
namespace {

using session::CallSummary;

bool any_name_in_two_modules(const std::vector<CallSummary>& calls) {
  std::unordered_map<std::string_view, std::string_view> module_of;
  for (const CallSummary& call : calls) {
    const auto [found, is_new] = module_of.try_emplace(call.name, call.module);
    if (!is_new && found->second != call.module) return true;
  }
  return false;
}

using Row = std::array<std::string, 10>;
constexpr size_t kModule = 1;
constexpr size_t kWords = 2;  // the columns before are words, the others are numbers

Row row_of(const CallSummary& c, const RowNames& names) {
  const auto time = [&](uint64_t ns) { return c.calls == 0 ? std::string("-") : duration_text(ns); };
  return {names.of(c),
          escaped(c.module),
          std::to_string(c.calls),
          time(c.total_ns),
          time(c.mean_ns),
          time(c.p50_ns),
          time(c.p99_ns),
          time(c.max_ns),
          std::to_string(c.abandoned),
          c.open ? std::to_string(*c.open) : "-"};
}

std::string line_of(const Row& row, const std::array<size_t, 10>& widths, bool with_module) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i == kModule && !with_module) continue;
    line += i == 0 ? "" : "  ";
    line += i < kWords ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
  }
  return line;
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

std::string call_table(std::vector<CallSummary> calls, bool color, size_t most) {
  const bool with_module = any_name_in_two_modules(calls);
  const RowNames names(calls);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallSummary& a, const CallSummary& b) { return a.total_ns > b.total_ns; });
  const size_t more = calls.size() - std::min(most, calls.size());
  calls.resize(calls.size() - more);
  std::vector<Row> rows = {
      {"NAME", "MODULE", "CALLS", "TOTAL", "MEAN", "P50", "P99", "MAX", "ABANDONED", "OPEN"}};
  for (const CallSummary& call : calls) rows.push_back(row_of(call, names));
  std::array<size_t, 10> widths{};
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view paint = !color ? "" : i == 0 ? kBold : calls[i - 1].calls == 0 ? kDim : "";
    out += fmt::format("{}{}{}\n", paint, line_of(rows[i], widths, with_module), paint.empty() ? "" : kPlain);
  }
  if (more != 0) out += fmt::format("({} more)\n", more);
  return out;
}

std::string call_json(const std::vector<CallSummary>& calls) {
  std::string out;
  for (const CallSummary& c : calls) {
    out += json_begin("latency") + ",\"name\":";
    append_json_string(out, c.name);
    out += ",\"module\":";
    append_json_string(out, c.module);
    append_json_filter(out, c);
    out += fmt::format(
        ",\"calls\":{},\"total_ns\":{},\"mean_ns\":{},\"p50_ns\":{},\"p99_ns\":{},\"max_ns\":{},"
        "\"abandoned\":{},\"open\":{}}}\n",
        c.calls, c.total_ns, c.mean_ns, c.p50_ns, c.p99_ns, c.max_ns, c.abandoned,
        c.open ? std::to_string(*c.open) : "null");
  }
  return out;
}

}  // namespace blip::cli
