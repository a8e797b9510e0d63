// SPDX-License-Identifier: MIT
#include "cli/tracing.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string_view>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/signals.h"

namespace blip::cli {
namespace {

using session::Armed;
using session::End;
using session::Session;
using session::Summary;

std::string_view why(End end) {
  switch (end) {
    case End::kStopped:
      return "stopped";
    case End::kDuration:
      return "the duration is over";
    case End::kMaxEvents:
      return "the number of events is reached";
    case End::kTargetExit:
      return "the target exited";
    case End::kTargetExec:
      return "the target called exec";
    case End::kOutputFailed:
      return "the output failed";
    case End::kScript:
      return "the script ended";
  }
  return "";
}

void tell_armed(const Command& command, const Armed& armed) {
  if (command.quiet) return;
  std::set<std::string_view> said;  // several probes may have the same to tell
  for (const std::string& remark : armed.remarks)
    if (said.insert(remark).second) say(remark);
  say(armed_line(armed));
  if (!command.session.verbose) return;
  for (const session::Refusal& refusal : armed.refused) say(refusal_line(refusal));
  for (const std::string& note : armed.notes) say(note);
}

void tell_end(const Command& command, const Summary& summary) {
  for (const std::string& warning : summary.warnings) say_error("warning: " + warning);
  if (command.quiet) return;
  if (command.session.verbose)
    say(fmt::format("end: {}; detached in {:.1f} ms (target paused {:.2f} ms), {:.3f} s of CPU used to drain",
                    why(summary.end), summary.detach_ms, summary.detach_paused_ms, summary.consumer_cpu_s));
  if (!summary.buffer_advice.empty()) say(summary.buffer_advice);
  say(summary_line(summary));
}

int exit_code(const Error& error) { return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed; }

// Signals that come while the one session of the program starts and runs.
class SessionSignals final : public StopSignals::Listener {
 public:
  SessionSignals(session::Control& control, bool has_command)
      : control_(control), has_command_(has_command) {}

  // In this order: whoever comes to plan now sees the request.
  void stop() override {
    control_.request_stop();
    if (!control_.may_end_at_once()) return;
    constexpr std::string_view kText = "blip: stopped before any probe was armed\n";
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(kExitFine);
  }
  bool forward(int signal) override { return has_command_ && control_.forward_to_command(signal); }

 private:
  session::Control& control_;
  const bool has_command_;
};

// blip's own code, and how the command ended, if there was one.
struct Outcome {
  int code = kExitFine;
  std::optional<int> command_status;
};

Outcome trace(const Command& command, const TracingHooks& hooks) {
  session::Control control;
  SessionSignals listener(control, !command.session.command.empty());
  const StopSignals signals(listener);
  if (!command.quiet)
    for (const std::string& remark : command.remarks) say(remark);
  const auto waiting = [&] {
    if (!command.quiet) say(fmt::format("waiting for a process named {}", command.session.process_name));
  };
  auto started = Session::start(command.session, control, waiting);
  if (!started) {
    say_error(started.error().message());
    if (control.stop_requested() && started.error().kind() == ErrorKind::kTimeout) return {};
    return {exit_code(started.error()), {}};
  }
  Session& session = **started;
  tell_armed(command, session.armed());
  if (hooks.started) hooks.started(session);
  if (session.armed().probes == 0 && !command.session.probes.empty() && !session.command_ended() &&
      !session.may_come_later()) {
    say_error("nothing was armed: every function that matches was refused (-v lists why)");
    return {kExitFailed, {}};
  }
  const Summary summary = session.run({.sink = hooks.sink,
                                       .is_full = hooks.is_full,
                                       .end_of_round =
                                           [&] {
                                             if (hooks.end_of_round) hooks.end_of_round();
                                             if (hooks.is_done && hooks.is_done()) control.request_stop();
                                             say_kept();
                                           },
                                       .detached =
                                           [&] {
                                             StopSignals::tell_detached();
                                             if (hooks.detached) hooks.detached();
                                           },
                                       .notice =
                                           [&](const std::string& text) {
                                             if (!command.quiet) say(text);
                                           },
                                       .engine = hooks.engine});
  const bool printed = !hooks.at_end || hooks.at_end(summary);
  tell_end(command, summary);
  if (hooks.behind && !command.quiet) hooks.behind(summary);
  say_rest();
  const int own_code = hooks.own_code ? hooks.own_code() : kExitFine;
  return {printed && !summary.failed ? own_code : kExitFailed, session.wait_for_command()};
}

// Ends blip as the command ended, so that the shell sees no difference.
int pass_on(int status, int own_code) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};  // the command has left one, if it was to
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(WTERMSIG(status), SIG_DFL);
    sigset_t unblocked;
    ::sigemptyset(&unblocked);
    ::sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    ::raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  return WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : own_code;
}

}  // namespace

int run_tracing(const Command& command, const TracingHooks& hooks) {
  const Outcome outcome = trace(command, hooks);
  return outcome.command_status ? pass_on(*outcome.command_status, outcome.code) : outcome.code;
}

}  // namespace blip::cli
