// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "cli/tracing.h"

namespace blip::cli {
namespace {

bool use_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(fd) && !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

int cmd_trace(const Command& command) {
  Output output(STDOUT_FILENO, &StopSignals::requested);
  Printer printer(output, {.json = command.json,
                           .color = use_color(command.color, STDOUT_FILENO),
                           .realtime_offset = measure_realtime_offset()});
  bool stopped = false;
  const auto stop_when_closed = [&] {
    if (!output.closed() || stopped) return;
    stopped = true;
    session::Session::request_stop();
  };
  TracingHooks hooks;
  hooks.sink = [&](const session::EventView& view) {
    printer.event(view);
    stop_when_closed();
  };
  hooks.end_of_round = [&] {
    printer.flush();
    stop_when_closed();
  };
  hooks.at_end = [&](const session::Summary&) {
    printer.flush();
    if (output.error() == 0) return true;
    say(std::string("stdout: ") + std::strerror(output.error()));
    return false;
  };
  return run_tracing(command, hooks);
}

}  // namespace blip::cli
