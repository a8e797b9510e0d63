// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output/color.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "cli/show/call_table.h"
#include "cli/show/count_table.h"
#include "cli/signals.h"
#include "cli/tracing.h"

namespace blip::cli {

namespace {

std::string table_of(const Command& command, const session::Summary& summary) {
  const bool latencies = command.session.latencies;
  if (command.json) return latencies ? call_json(summary.calls) : count_json(summary.counts);
  const bool color = use_color(command.color, STDOUT_FILENO);
  const size_t width = table_columns(STDOUT_FILENO);
  return latencies ? call_table(summary.calls, color, {.width = width})
                   : count_table(summary.counts, color, width);
}

}  // namespace

int cmd_count(const Command& command) {
  TracingHooks hooks;
  hooks.at_end = [&](const session::Summary& summary) {
    Output output(STDOUT_FILENO, &StopSignals::patience);
    output.write(table_of(command, summary));
    return tell_output(output);
  };
  return run_tracing(command, hooks);
}

}  // namespace blip::cli
