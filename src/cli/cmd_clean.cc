// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/signals.h"
#include "session/cleaning.h"

namespace blip::cli {
namespace {

// A second Ctrl-C must not leave a process half cleaned.
struct FinishFirst final : StopSignals::Listener {
  void stop() override {}
};

std::string name_of(const session::CleanedProcess& process) {
  return process.comm.empty() ? fmt::format("process {}", process.pid)
                              : fmt::format("process {} ({})", process.pid, process.comm);
}

// True: nothing of blip's is left in it, or what is left belongs to somebody who lives.
bool tell(const Command& command, const session::CleanedProcess& process) {
  if (process.error) {
    const bool harmless = command.clean_all && process.is_traced;
    if (!harmless) {
      say_error(process.error->message());
    } else if (!command.quiet) {
      say(process.error->message());
    }
    return harmless;
  }
  if (!command.quiet)
    say(fmt::format("{}: {} changed places restored{}", name_of(process), process.places,
                    process.stays.empty() ? ", nothing of blip is left" : ""));
  if (!process.stays.empty())
    say_error(fmt::format("warning: memory of blip stays in {}, harmless: {}. Try again later",
                          name_of(process), fmt::join(process.stays, "; ")));
  return process.stays.empty();
}

void tell(const Command& command, const session::SavedTrace& saved) {
  if (command.quiet) return;
  if (!saved.killed_dir.empty()) say(fmt::format("the events before these are in {}", saved.killed_dir));
  say(fmt::format("{} events, {} discarded, {} skipped; trace in {}", saved.events, saved.discarded,
                  saved.skipped, saved.dir));
}

}  // namespace

int cmd_clean(const Command& command) {
  FinishFirst finish_first;
  const StopSignals signals(finish_first);
  const auto summary = session::clean({.pids = command.session.pids,
                                       .all = command.clean_all,
                                       .save_dir = command.save_dir,
                                       .allow_init = command.session.allow_init});
  if (!summary) {
    say_error(summary.error().message());
    return kExitFailed;
  }
  bool fine = true;
  for (const session::CleanedProcess& process : summary->processes) fine = tell(command, process) && fine;
  if (!command.save_dir.empty() && summary->saved.empty() && fine && !command.quiet)
    say("there were no events to save");
  for (const session::SavedTrace& saved : summary->saved) tell(command, saved);
  if (command.quiet) return fine ? kExitFine : kExitFailed;
  for (pid_t pid : summary->untouched) say(fmt::format("process {}: nothing of blip is in it", pid));
  if (command.clean_all && summary->processes.empty()) say("no process holds anything of blip");
  return fine ? kExitFine : kExitFailed;
}

}  // namespace blip::cli
