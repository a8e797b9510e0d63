// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <vector>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output/color.h"
#include "cli/output/terminal.h"
#include "cli/show/call_table.h"
#include "cli/tracing.h"

namespace blip::cli {
namespace {

constexpr size_t kMostRows = 40;

}  // namespace

// To stderr, behind what scripts parse: stdout is the traced command's.
int cmd_record(const Command& command) {
  TracingHooks hooks;
  hooks.behind = [&](const session::Summary& summary) {
    std::vector<session::CallSummary> calls = summary.calls;
    std::erase_if(calls, [](const session::CallSummary& c) { return c.calls + c.abandoned == 0; });
    if (calls.empty()) return;
    if (summary.discarded != 0) say("the table is of the recorded returns only, without the discarded");
    say_text(call_table(calls, use_color(command.color, STDERR_FILENO),
                        {.rows = kMostRows, .width = table_columns(STDERR_FILENO)}));
  };
  return run_tracing(command, hooks);
}

}  // namespace blip::cli
