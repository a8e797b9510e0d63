// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/stop.h"
#include "cli/commands.h"
#include "cli/languages.h"
#include "cli/notices.h"
#include "cli/output_file.h"
#include "cli/script_printer.h"
#include "cli/script_signals.h"
#include "cli/signals.h"
#include "cli/tracing.h"
#include "ctf/clock.h"
#include "script/blocks/text.h"
#include "session/list/script_places.h"
#include "session/run/handler_plan.h"
#include "session/run/run_alone.h"
#include "session/script_world.h"

namespace blip::cli {
namespace {

constexpr size_t kLargestScript = 16 << 20;

Result<std::string> read_script(const std::string& file) {
  std::ifstream opened;
  const bool is_stdin = file == "-";
  if (!is_stdin) opened.open(file, std::ios::binary);
  std::istream& in = is_stdin ? std::cin : opened;
  if (!in) return Error::from_errno(errno, file);
  std::string text(kLargestScript + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad() || (text.empty() && !in.eof())) return Error::from_errno(errno, file);
  if (text.size() > kLargestScript)
    return Error(ErrorKind::kUsage, file + ": this is no script, it is too large");
  return text;
}

bool has_target(const session::Options& options) {
  return !options.pids.empty() || !options.process_name.empty() || !options.command.empty();
}

Result<script::ScriptText> text_of(const Command& command) {
  const RunOptions& run = command.run;
  script::ScriptText text{.name = run.is_text         ? "-e"
                                  : run.script == "-" ? "stdin"
                                                      : run.script,
                          .text = run.script,
                          .arguments = run.arguments,
                          .globals = run.globals,
                          .defines = run.defines,
                          .json = run.json,
                          .may_run_commands = run.may_run_commands,
                          .is_for_target = has_target(command.session),
                          .parse_only = run.parse_only};
  if (run.is_text) return text;
  TRY(text.text, read_script(run.script));
  return text;
}

Result<std::unique_ptr<script::Script>> script_of(const Command& command) {
  const RunOptions& run = command.run;
  if (!run.list_point.empty()) return parse_point(run.list_point, run.language);
  TRY(const script::ScriptText text, text_of(command));
  return parse_script(text, run.language);
}

using Kind = script::WantedProbe::Kind;

bool is_of_lives(Kind kind) { return kind >= Kind::kProcessBegin && kind <= Kind::kThreadEnd; }

// Signals end a script that has no session.
struct StopByRequest final : StopSignals::Listener {
  void stop() override { request.request(); }
  StopRequest request;
};

// A script from its compiled handlers to its end. Members in the order they need each other.
class ScriptRunner {
 public:
  ScriptRunner(const Command& command, script::Script& script, Output& output)
      : command_(command), script_(script), output_(output), printer_(output) {}

  int run() {
    if (const Status ready = prepare(); !ready) {
      say_error(ready.error().message());
      return kExitFailed;
    }
    const bool runs = !command_.run.check && !command_.run.explain && command_.run.list_point.empty();
    if (runs && !command_.session.probes.empty() && !has_target(command_.session))
      if (const Status found = find_targets(); !found) return tell(found.error());
    const bool is_alone = !has_target(command_.session);
    if (is_alone && needs_target_ && runs)
      return tell(
          Error(ErrorKind::kUsage,
                "the script probes processes: name one with -p PID or -n NAME, or a command after --"));
    if (!command_.run.list_point.empty()) return list();
    if (command_.run.check || command_.run.explain) return is_alone ? explain() : check_in_target();
    if (command_.run.dry_run && !command_.session.command.empty())
      return tell(
          Error(ErrorKind::kUsage, "--dry-run takes running processes: a command would run on without blip"));
    if (command_.run.dry_run && is_alone) return kExitFine;
    engine_.emplace(handlers_, world_, printer_);
    engine_->stop_when([this] { return printer_.is_full(); });
    world_.know(*engine_);
    return is_alone ? run_alone() : run_tracing(command_, hooks());
  }

 private:
  static int tell(const Error& error) {
    say_error(error.message());
    return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  }

  Status prepare() {
    TRY(command_.session.probes, session::requests_of(script_));
    TRY_OK(handlers_.add_probes_without_hit());
    command_.session.handlers = &plan_;
    for (const script::WantedProbe& probe : script_.probes()) {
      if (probe.kind == Kind::kSignal) TRY_OK(signals_.catch_signal(probe.number));
      needs_target_ |= script::has_hit(probe.kind) || is_of_lives(probe.kind) || probe.kind == Kind::kProfile;
      command_.session.lifecycle |= is_of_lives(probe.kind);
    }
    return {};
  }

  // Every process that has the files which the script names.
  Status find_targets() {
    TRY(command_.session.pids, session::processes_of(script_));
    command_.remarks.push_back(
        fmt::format("{} {} the files that the script names", command_.session.pids.size(),
                    command_.session.pids.size() == 1 ? "process has" : "processes have"));
    return {};
  }

  // Plans, and arms nothing.
  int check_in_target() {
    command_.session.plans_only = true;
    session::Control control;
    const auto planned = session::Session::start(command_.session, control);
    return planned ? explain() : tell(planned.error());
  }

  int explain() {
    if (command_.run.explain) printer_.write(script::print(handlers_.program()));
    return finish() ? kExitFine : kExitFailed;
  }

  int list() {
    const auto places = session::list_places(script_, command_.session, command_.run.list_variables);
    if (!places) return tell(places.error());
    for (const session::ListedPlace& listed : *places) {
      printer_.write(script_.point_at(listed.probe, listed.place));
      for (const std::string& variable : listed.variables) printer_.write("\n    " + variable);
      printer_.write("\n");
    }
    return finish() ? kExitFine : kExitFailed;
  }

  int run_alone() {
    StopByRequest stop;
    const StopSignals signals(stop);
    printer_.wait_for_reader();
    session::run_alone(*engine_, command_.session.duration, stop.request, [&] {
      end_round();
      if (output_.closed()) stop.request.request();
    });
    const bool printed = finish();
    if (!command_.quiet) say(summary_line({}));
    say_rest();
    return printed ? engine_->exit_code() : kExitFailed;
  }

  TracingHooks hooks() {
    TracingHooks hooks;
    hooks.started = [this](session::Session& session) { world_.know(session); };
    hooks.is_done = [this] { return command_.run.dry_run || output_.closed(); };
    if (command_.run.dry_run) return hooks;
    hooks.engine = &*engine_;
    hooks.end_of_round = [this] { end_round(); };
    hooks.detached = [this] { printer_.wait_for_reader(); };
    hooks.at_end = [this](const session::Summary&) { return finish(); };
    hooks.own_code = [this] { return engine_->exit_code(); };
    return hooks;
  }

  void end_round() {
    signals_.take_all([this](int number) { engine_->run_signal(number, ctf::HostClocks::monotonic_ns()); });
    printer_.flush();
    if (++rounds_ % kRoundsPerRefresh == 0) world_.refresh();
  }

  bool finish() {
    printer_.finish();
    printer_.tell_left_out();
    return tell_output(output_, command_.output_file.empty() ? "stdout" : command_.output_file);
  }

  static constexpr uint64_t kRoundsPerRefresh = 16;

  Command command_;
  script::Script& script_;
  Output& output_;
  ScriptPrinter printer_;
  session::Handlers handlers_{script_};
  session::HandlerPlan plan_{handlers_, command_.session};
  session::ScriptWorld world_{handlers_};
  std::optional<session::Engine> engine_;
  ScriptSignals signals_;
  uint64_t rounds_ = 0;
  bool needs_target_ = false;
};

}  // namespace

int cmd_run(const Command& command) {
  const auto script = script_of(command);
  if (!script) {
    say_error(script.error().message());
    return kExitFailed;
  }
  if (command.run.parse_only) return kExitFine;
  Fd file;
  if (!command.output_file.empty()) {
    auto opened = open_output_file(command.output_file);
    if (!opened) {
      say_error(opened.error().with_context("-o").message());
      return kExitFailed;
    }
    file = *std::move(opened);
  }
  Output output(file ? file.get() : STDOUT_FILENO, &StopSignals::patience);
  return ScriptRunner(command, **script, output).run();
}

}  // namespace blip::cli
