// SPDX-License-Identifier: MIT
#include "cli/options/command_builder.h"

#include <fmt/format.h>

#include "cli/options/contexts.h"
#include "cli/options/spread.h"
#include "cli/options/usage_error.h"

namespace blip::cli {
namespace {

std::string quoted_for_shell(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line_of(const std::vector<std::string>& args) {
  std::string line = "blip";
  for (const std::string& arg : args) line += " " + quoted_for_shell(arg);
  return line;
}

}  // namespace

bool takes_command(Verb verb) { return is_tracing(verb) || verb == Verb::kRun; }

bool is_tracing(Verb verb) { return verb == Verb::kTrace || verb == Verb::kRecord || verb == Verb::kCount; }

CommandBuilder::CommandBuilder(const VerbFact& verb) : verb_(verb) { command_.verb = verb.verb; }

std::string CommandBuilder::help_hint() const { return fmt::format("blip {} --help", verb_.name); }

Status CommandBuilder::add_operand(const std::string& word) {
  if (verb_.verb == Verb::kList || verb_.verb == Verb::kRun) {
    operands_.push_back(word);
    return {};
  }
  if (is_tracing(verb_.verb))
    return usage(fmt::format(
        "unexpected '{}': probes are given as --function {}, the process as -p PID, a command after --", word,
        word));
  if (verb_.verb == Verb::kClean)
    return usage(fmt::format("unexpected '{}': name a process with -p PID", word));
  if (!command_.view_dir.empty())
    return usage(fmt::format("unexpected '{}': blip view takes one directory", word));
  if (word.empty()) return usage("the directory's name is empty");
  command_.view_dir = word;
  return {};
}

// With --latency the entry of a function stands for its calls.
Status CommandBuilder::measure_calls() {
  session::Options& options = command_.session;
  if (!options.latencies) {
    if (verb_.verb == Verb::kCount && options.clock != session::ClockChoice::kAuto)
      return usage("--clock: hits have no times; count takes it with --latency only");
    return {};
  }
  for (session::ProbeRequest& probe : options.probes) {
    if (probe.kind == session::ProbeKind::kFunction) probe.kind = session::ProbeKind::kReturn;
    if (probe.kind != session::ProbeKind::kReturn)
      return usage("--latency measures calls: name functions with --function or --return");
  }
  return {};
}

Status CommandBuilder::set_command(std::vector<std::string> words, std::string_view shown) {
  if (!command_.session.command.empty())
    return usage(fmt::format("{} {}: only one command can be started", shown, words[0]));
  if (words[0].empty()) return usage(fmt::format("{}: the command's name is empty", shown));
  command_.session.command = std::move(words);
  return {};
}

// (-p PID | -n NAME | FILE) [GLOB]
Status CommandBuilder::finish_list() {
  const bool named = !command_.session.process_name.empty();
  if (named && !command_.session.pids.empty()) return usage("-p and -n exclude each other: name one process");
  const bool process = named || !command_.session.pids.empty();
  const size_t most = process ? 1 : 2;
  if (command_.session.pids.size() > 1) return usage("blip list takes one -p PID");
  if (!process && operands_.empty())
    return usage(fmt::format("no target given: name a process with -p PID, or a file ({})", help_hint()));
  if (operands_.size() > most)
    return usage(fmt::format("unexpected '{}': blip list takes {}one GLOB", operands_[most],
                             process ? "" : "one file and "));
  if (command_.marks && command_.coverage) return usage("--marks and --coverage exclude each other");
  for (const std::string& operand : operands_)
    if (operand.empty()) return usage("an argument of blip list is empty");
  if (!process) command_.list_file = operands_[0];
  if (operands_.size() == most) command_.list_glob = operands_.back();
  return {};
}

Status CommandBuilder::finish_clean() const {
  if (command_.clean_all && !command_.session.pids.empty())
    return usage("-p and --all exclude each other: clean certain processes, or all");
  if (!command_.clean_all && command_.session.pids.empty())
    return usage(fmt::format("say what to clean: -p PID, or --all ({})", help_hint()));
  if (!command_.save_dir.empty() && command_.session.pids.size() != 1)
    return usage("--save needs one process: -p PID");
  return {};
}

bool CommandBuilder::has_target() const {
  const session::Options& options = command_.session;
  return !options.pids.empty() || !options.process_name.empty() || !options.command.empty();
}

// Exactly one way to name what is traced.
Status CommandBuilder::check_target() const {
  const session::Options& options = command_.session;
  std::vector<std::string_view> given;
  if (!options.pids.empty()) given.push_back("-p");
  if (!options.process_name.empty()) given.push_back("-n");
  if (!options.command.empty()) given.push_back("a command (-c or --)");
  if (given.empty())
    return usage(fmt::format(
        "no target given: name a process with -p PID or -n NAME, or a command after -- ({})", help_hint()));
  if (given.size() == 2 && options.command.empty())
    return usage("-p and -n exclude each other: name the processes by their numbers, or by their name");
  if (given.size() > 1)
    return usage(fmt::format("{} and {} exclude each other: trace running processes, or start a command",
                             given[0], given[1]));
  if (options.wait_for_processes && options.process_name.empty())
    return usage("--wait needs -n NAME: the name of the processes to wait for");
  return {};
}

namespace {

// Unless the user says what to show.
void show_arguments_of_marks(std::vector<session::ProbeRequest>& probes) {
  for (session::ProbeRequest& probe : probes)
    if (probe.kind == session::ProbeKind::kMark && !probe.data.locals && probe.data.captures.empty())
      probe.data.args = true;
}

}  // namespace

Status CommandBuilder::finish_tracing(const std::vector<std::string>& args) {
  session::Options& options = command_.session;
  if (options.probes.empty() && options.lifecycle && !options.process_name.empty())
    return usage("--lifecycle without a probe needs -p PID or a command, not -n NAME");
  if (options.probes.empty() && !options.lifecycle)
    return usage(fmt::format("no probe given: say what to probe, as in --function main ({})", help_hint()));
  TRY_OK(check_target());
  GivenFirst first = data_.given_first();
  first.contexts = !for_all_.empty();
  command_.remarks = spread_from_last(options.probes, first);
  for (session::ProbeRequest& probe : options.probes)
    probe.contexts = merge_contexts(for_all_, probe.contexts);
  TRY_OK(measure_calls());
  TRY_OK(data_.finish(options.probes));
  options.mode = verb_.verb == Verb::kTrace    ? session::Mode::kTrace
                 : verb_.verb == Verb::kRecord ? session::Mode::kRecord
                                               : session::Mode::kCount;
  if (options.mode != session::Mode::kCount) show_arguments_of_marks(options.probes);
  options.command_line = command_line_of(args);
  return {};
}

// The first operand is the script, unless -e was given; the others are its arguments.
Status CommandBuilder::finish_run(const std::vector<std::string>& args) {
  RunOptions& run = command_.run;
  if (!run.is_text && run.list_point.empty()) {
    if (operands_.empty())
      return usage(
          fmt::format("no script given: name a file, or give the script with -e TEXT ({})", help_hint()));
    run.script = operands_.front();
    if (run.script.empty()) return usage("the script's name is empty");
    operands_.erase(operands_.begin());
  }
  run.arguments = std::move(operands_);
  if (has_target() || command_.session.wait_for_processes) TRY_OK(check_target());
  command_.session.mode = session::Mode::kTrace;
  command_.session.command_line = command_line_of(args);
  return {};
}

Result<Command> CommandBuilder::finish(const std::vector<std::string>& args) {
  if (command_.help) return std::move(command_);
  if (verb_.verb == Verb::kList) TRY_OK(finish_list());
  if (verb_.verb == Verb::kClean) TRY_OK(finish_clean());
  if (verb_.verb == Verb::kRun) TRY_OK(finish_run(args));
  if (is_tracing(verb_.verb)) TRY_OK(finish_tracing(args));
  return std::move(command_);
}

}  // namespace blip::cli
