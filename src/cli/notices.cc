// SPDX-License-Identifier: MIT
#include "cli/notices.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/color.h"
#include "cli/escape.h"
#include "cli/output.h"

namespace blip::cli {
namespace {

bool error_color = false;

void write_line(std::string_view prefix, std::string_view text) {
  std::string line(prefix);
  line += ' ';
  // Lines of a message that follow the first show what the user wrote, indented: see script's diagnostics.
  constexpr std::string_view kNextLine = "\n  ";
  for (size_t end; (end = text.find(kNextLine)) != std::string_view::npos;
       text.remove_prefix(end + kNextLine.size())) {
    append_escaped(line, text.substr(0, end));
    line += kNextLine;
  }
  append_escaped(line, text);
  line += '\n';
  Output(STDERR_FILENO).write(line);
}

}  // namespace

std::string armed_line(const session::Armed& armed) {
  std::string line = fmt::format("armed {} probes in {:.1f} ms (target paused {:.2f} ms)", armed.probes,
                                 armed.total_ms, armed.paused_ms);
  if (!armed.refused.empty()) line += fmt::format(", {} refused (-v lists them)", armed.refused.size());
  if (armed.traps != 0) line += fmt::format(", {} by traps (slow)", armed.traps);
  return line;
}

std::string summary_line(const session::Summary& summary) {
  std::string line =
      fmt::format("{} events, {} discarded, {} skipped", summary.events, summary.discarded, summary.skipped);
  if (!summary.output_dir.empty()) line += fmt::format("; trace in {}", summary.output_dir);
  return line;
}

std::string refusal_line(const session::Refusal& refusal) {
  return fmt::format("refused {}: {}", refusal.probe, refusal.reason);
}

void say(std::string_view text) { write_line("blip:", text); }

void say_error(std::string_view text) {
  write_line(error_color ? fmt::format("{}blip:{}", kErrorColor, kPlain) : "blip:", text);
}

void use_error_color(bool color) { error_color = color; }

}  // namespace blip::cli
