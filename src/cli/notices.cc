// SPDX-License-Identifier: MIT
#include "cli/notices.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/escape.h"
#include "cli/output.h"

namespace blip::cli {

std::string armed_line(const session::Armed& armed) {
  std::string line = fmt::format("armed {} probes in {:.1f} ms (target paused {:.2f} ms)", armed.probes,
                                 armed.total_ms, armed.paused_ms);
  if (!armed.refused.empty()) line += fmt::format(", {} refused (-v lists them)", armed.refused.size());
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

void say(std::string_view text) {
  std::string line = "blip: ";
  append_escaped(line, text);
  line += '\n';
  Output(STDERR_FILENO).write(line);
}

}  // namespace blip::cli
