// SPDX-License-Identifier: MIT
#include "cli/show/coverage_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/show/event_json.h"
#include "cli/show/list_table.h"

namespace blip::cli {
namespace {

using session::InstructionCoverage;
using session::PatchStep;
using session::RefusedInstruction;

struct Count {
  std::string name;
  uint64_t number;
};

double share(uint64_t part, uint64_t total) {
  return total == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
}

std::vector<Count> steps_of(const InstructionCoverage& coverage) {
  std::vector<Count> rows;
  for (PatchStep step : all_steps()) {
    const auto found = coverage.steps.find(step);
    rows.push_back({std::string(step_name(step)), found == coverage.steps.end() ? 0 : found->second});
  }
  return rows;
}

// The most frequent first.
std::vector<Count> reasons_of(const InstructionCoverage& coverage) {
  std::vector<Count> rows;
  for (const auto& [reason, number] : coverage.reasons) rows.push_back({reason, number});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Count& a, const Count& b) { return a.number > b.number; });
  return rows;
}

void append_refused(std::string& out, const RefusedInstruction& r, bool color) {
  fmt::format_to(std::back_inserter(out), "{:#014x}  {}  ", r.address, escaped(r.module));
  if (color) out += kNameColor;
  append_escaped(out, r.place);
  if (color) out += kPlain;
  out += "  # ";
  append_escaped(out, r.reason);
  out += '\n';
}

void append_number(std::string& out, std::string_view name, uint64_t value) {
  fmt::format_to(std::back_inserter(out), "\"{}\":{},", name, value);
}

// "name":{"a":1,"b":2}
void append_counts(std::string& out, std::string_view name, const std::vector<Count>& counts) {
  JsonKeys keys;
  fmt::format_to(std::back_inserter(out), "\"{}\":{{", name);
  for (const Count& count : counts) {
    if (&count != &counts.front()) out += ',';
    append_json_string(out, keys.take(count.name));
    fmt::format_to(std::back_inserter(out), ":{}", count.number);
  }
  out += '}';
}

}  // namespace

std::string coverage_table(const InstructionCoverage& coverage, bool color) {
  std::string out;
  for (const RefusedInstruction& r : coverage.refused) append_refused(out, r, color);
  const auto row = [&](std::string_view name, uint64_t number, const char* style) {
    if (color) out += style;
    fmt::format_to(std::back_inserter(out), "{:<16}  {:>12}  {:>6.2f} %", name, number,
                   share(number, coverage.total));
    out += color ? std::string(kPlain) + "\n" : "\n";
  };
  if (color) out += kBold;
  fmt::format_to(std::back_inserter(out), "{:<16}  {:>12}  {:>8}", "STEP", "INSTRUCTIONS", "SHARE");
  out += color ? std::string(kPlain) + "\n" : "\n";
  for (const Count& step : steps_of(coverage)) row(step.name, step.number, step.number == 0 ? kDim : "");
  row("jump", coverage.jumps(), kBold);
  row("refused", coverage.refused_count(), kBold);
  for (const Count& reason : reasons_of(coverage))
    fmt::format_to(std::back_inserter(out), "{:>30}  {}\n", reason.number, escaped(reason.name));
  return out;
}

std::string coverage_json(const InstructionCoverage& coverage) {
  std::string out;
  for (const RefusedInstruction& r : coverage.refused) {
    out += json_begin("refused") + ",\"place\":";
    append_json_string(out, r.place);
    fmt::format_to(std::back_inserter(out), ",\"address\":{},\"module\":", r.address);
    append_json_string(out, r.module);
    out += ",\"refused\":";
    append_json_string(out, r.reason);
    out += "}\n";
  }
  out += json_begin("coverage") + ",";
  append_number(out, "total", coverage.total);
  append_number(out, "jump", coverage.jumps());
  append_number(out, "trap", coverage.traps());
  append_number(out, "refused", coverage.refused_count());
  append_number(out, "functions", coverage.functions);
  append_counts(out, "steps", steps_of(coverage));
  out += ',';
  append_counts(out, "reasons", reasons_of(coverage));
  return out + "}\n";
}

std::string coverage_summary(const InstructionCoverage& coverage) {
  return fmt::format(
      "{} instructions of {} functions: {} can be probed by a jump ({:.2f} %){}, {} refused", coverage.total,
      coverage.functions, coverage.jumps(), share(coverage.jumps(), coverage.total),
      coverage.traps() == 0 ? "" : fmt::format(", {} by a trap", coverage.traps()), coverage.refused_count());
}

}  // namespace blip::cli
