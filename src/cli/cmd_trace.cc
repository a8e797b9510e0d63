// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "base/fd.h"
#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output/color.h"
#include "cli/output_file.h"
#include "cli/show/print.h"
#include "cli/signals.h"
#include "cli/tracing.h"

namespace blip::cli {

int cmd_trace(const Command& command) {
  Fd file;
  if (!command.output_file.empty()) {
    auto opened = open_output_file(command.output_file);
    if (!opened) {
      say_error(opened.error().with_context("-o").message());
      return kExitFailed;
    }
    file = *std::move(opened);
  }
  const int fd = file ? file.get() : STDOUT_FILENO;
  Output output(fd, &StopSignals::patience);
  Printer printer(output, {.json = command.json,
                           .color = use_color(command.color, fd),
                           .realtime_offset = measure_realtime_offset()});
  TracingHooks hooks;
  hooks.sink = [&](const session::EventView& view) { printer.event(view); };
  hooks.is_full = [&] { return printer.is_full(); };
  hooks.detached = [&] { printer.wait_for_reader(); };
  hooks.end_of_round = [&] { printer.flush(); };
  hooks.is_done = [&] { return output.closed(); };
  hooks.at_end = [&](const session::Summary&) {
    printer.finish();
    return tell_output(output, file ? command.output_file : "stdout");
  };
  return run_tracing(command, hooks);
}

}  // namespace blip::cli
