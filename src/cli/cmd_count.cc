// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstring>

#include "cli/color.h"
#include "cli/commands.h"
#include "cli/count_table.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/tracing.h"

namespace blip::cli {

int cmd_count(const Command& command) {
  TracingHooks hooks;
  hooks.at_end = [&](const session::Summary& summary) {
    Output output(STDOUT_FILENO, &StopSignals::requested);
    output.write(command.json ? count_json(summary.counts)
                              : count_table(summary.counts, use_color(command.color, STDOUT_FILENO)));
    if (output.error() == 0) return true;
    say_error(std::string("stdout: ") + std::strerror(output.error()));
    return false;
  };
  return run_tracing(command, hooks);
}

}  // namespace blip::cli
