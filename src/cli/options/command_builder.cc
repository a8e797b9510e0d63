// SPDX-License-Identifier: MIT
#include "cli/options/command_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/options/contexts.h"
#include "cli/options/probe_options.h"
#include "cli/options/shell_words.h"
#include "cli/options/spread.h"
#include "cli/options/usage_error.h"
#include "cli/options/values.h"

namespace blip::cli {
namespace {

constexpr uint32_t kLeastSubbufSize = 4096;
constexpr uint32_t kMostSubbufSize = 1U << 30;
constexpr uint32_t kLeastSubbufs = 2;
constexpr uint32_t kMostString = 1024;
constexpr uint32_t kMostElements = 1000;
constexpr uint32_t kDeepest = 8;
constexpr uint32_t kMostSubbufs = 1U << 16;

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

std::string with_dashes(const OptionFact& fact) {
  return fact.long_name.empty() ? fmt::format("-{}", fact.short_names[0])
                                : fmt::format("--{}", fact.long_name);
}

// parse_X(...) into `where`, an error with the option's name in front.
template <typename T, typename Where>
Status assign(const OptionFact& fact, Result<T> parsed, Where& where) {
  if (!parsed) return parsed.error().with_context(with_dashes(fact));
  where = *std::move(parsed);
  return {};
}

}  // namespace

bool is_tracing(Verb verb) { return verb == Verb::kTrace || verb == Verb::kRecord || verb == Verb::kCount; }

CommandBuilder::CommandBuilder(const VerbFact& verb) : verb_(verb) { command_.verb = verb.verb; }

std::string CommandBuilder::help_hint() const { return fmt::format("blip {} --help", verb_.name); }

Status CommandBuilder::add_operand(const std::string& word) {
  if (verb_.verb == Verb::kList) {
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

Status CommandBuilder::apply(const OptionFact& fact, const std::string& value) {
  session::Options& options = command_.session;
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  switch (fact.id) {
    case OptionId::kFunction:
    case OptionId::kReturn:
    case OptionId::kProbe:
    case OptionId::kLine:
    case OptionId::kMark:
    case OptionId::kEveryInstruction:
      return apply_probe(fact.id, value);
    case OptionId::kContext:
      return apply_context(value);
    case OptionId::kFilter:
    case OptionId::kArgs:
    case OptionId::kLocals:
    case OptionId::kCapture:
      return data_.apply(fact.id, value, options.probes);
    case OptionId::kStringMax:
      return assign(fact, parse_number(value, 1, kMostString), options.string_max);
    case OptionId::kElements:
      return assign(fact, parse_number(value, 1, kMostElements), options.elements);
    case OptionId::kDepth:
      return assign(fact, parse_number(value, 1, kDeepest), options.depth);
    case OptionId::kHex:
      options.hex = true;
      return {};
    case OptionId::kNoInline:
      options.no_inline = true;
      return {};
    case OptionId::kNoTid:
      options.no_tid = true;
      return {};
    case OptionId::kLatency:
      options.latencies = true;
      return {};
    case OptionId::kPid:
      return apply_pid(value);
    case OptionId::kName:
      return apply_name(value);
    case OptionId::kWait:
      options.wait_for_processes = true;
      return {};
    case OptionId::kCommand: {
      auto words = split_shell_words(value);
      if (!words) return words.error().with_context(fmt::format("-c \"{}\"", value));
      return set_command(*std::move(words), "-c");
    }
    case OptionId::kNoFollowFork:
      options.follow_fork = false;
      return {};
    case OptionId::kFollowExec:
      options.follow_exec = true;
      return {};
    case OptionId::kWaitLibrary:
      options.wait_library = true;
      return {};
    case OptionId::kLifecycle:
      options.lifecycle = true;
      return {};
    case OptionId::kColor:
      return apply_color(value);
    case OptionId::kDuration:
      return assign(fact, parse_duration(value), options.duration);
    case OptionId::kMaxPause:
      return assign(fact, parse_short_duration(value), options.max_pause);
    case OptionId::kMaxEvents:
      return assign(fact, parse_number(value, 1, kNoLimit), options.max_events);
    case OptionId::kNumSubbuf:
      options.buffers_given = true;
      return assign(fact, parse_power_of_two(value, kLeastSubbufs, kMostSubbufs), options.subbuf_count);
    case OptionId::kSubbufSize:
      options.buffers_given = true;
      return assign(fact, parse_power_of_two(value, kLeastSubbufSize, kMostSubbufSize), options.subbuf_size);
    case OptionId::kClock:
      return apply_clock(value);
    case OptionId::kBackend:
      return apply_backend(value);
    case OptionId::kAllowInit:
      command_.session.allow_init = true;
      return {};
    case OptionId::kAllowTrap:
      command_.session.allow_trap = true;
      return {};
    case OptionId::kMovedFaults:
      return apply_moved_faults(value);
    case OptionId::kMaxProbes: {
      uint64_t limit = 0;
      TRY_OK(assign(fact, parse_number(value, 1, std::numeric_limits<uint32_t>::max()), limit));
      options.max_probes = static_cast<uint32_t>(limit);
      return {};
    }
    case OptionId::kOutput:
      if (value.empty()) return usage("-o: the directory's name is empty");
      options.output_dir = value;
      return {};
    case OptionId::kOutputFile:
      if (value.empty()) return usage("-o: the file's name is empty");
      command_.output_file = value;
      return {};
    case OptionId::kViewFunction:
    case OptionId::kThread:
    case OptionId::kFrom:
    case OptionId::kTo:
    case OptionId::kHead:
      return apply_selection(fact, value);
    case OptionId::kJson:
      command_.json = true;
      return {};
    case OptionId::kCoverage:
      command_.coverage = true;
      return {};
    case OptionId::kMarks:
      command_.marks = true;
      return {};
    case OptionId::kSave:
      if (value.empty()) return usage("--save: the directory's name is empty");
      command_.save_dir = value;
      return {};
    case OptionId::kAll:
      command_.clean_all = true;
      return {};
    case OptionId::kVerbose:
      options.verbose = true;
      return {};
    case OptionId::kQuiet:
      command_.quiet = true;
      return {};
    case OptionId::kHelp:
      command_.help = true;
      return {};
    case OptionId::kVersion:
      command_.version = true;
      return {};
    case OptionId::kLater:
      break;
  }
  return usage(fmt::format("{} is not available in this version", with_dashes(fact)));
}

Status CommandBuilder::apply_probe(OptionId option, const std::string& text) {
  TRY(session::ProbeRequest request, parse_probe(option, text));
  command_.session.probes.push_back(std::move(request));
  return {};
}

Status CommandBuilder::apply_context(const std::string& text) {
  auto contexts = parse_contexts(text);
  if (!contexts) return contexts.error().with_context("--context");
  auto& where = command_.session.probes.empty() ? for_all_ : command_.session.probes.back().contexts;
  where = merge_contexts(where, *contexts);
  return {};
}

// Which events of a trace.
Status CommandBuilder::apply_selection(const OptionFact& fact, const std::string& value) {
  ViewSelection& selection = command_.selection;
  switch (fact.id) {
    case OptionId::kViewFunction:
      if (value.empty()) return usage("--function: the name is empty");
      selection.functions.push_back(value);
      return {};
    case OptionId::kThread: {
      int64_t thread = 0;
      TRY_OK(assign(fact, parse_number(value, 1, std::numeric_limits<pid_t>::max()), thread));
      selection.threads.push_back(thread);
      return {};
    }
    case OptionId::kFrom:
      return assign(fact, TraceTime::parse(value), selection.from);
    case OptionId::kTo:
      return assign(fact, TraceTime::parse(value), selection.to);
    default:
      return assign(fact, parse_number(value, 1, std::numeric_limits<uint64_t>::max()), selection.head);
  }
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

Status CommandBuilder::apply_pid(const std::string& text) {
  auto pid = parse_number(text, 1, std::numeric_limits<pid_t>::max());
  if (!pid) return pid.error().with_context("-p");
  std::vector<pid_t>& pids = command_.session.pids;
  if (std::find(pids.begin(), pids.end(), static_cast<pid_t>(*pid)) == pids.end())
    pids.push_back(static_cast<pid_t>(*pid));
  return {};
}

Status CommandBuilder::apply_name(const std::string& text) {
  std::string& name = command_.session.process_name;
  if (text.empty()) return usage("-n: the name is empty");
  if (!name.empty()) return usage(fmt::format("-n {}: only one name can be given", text));
  name = text;
  return {};
}

Status CommandBuilder::set_command(std::vector<std::string> words, std::string_view shown) {
  if (!command_.session.command.empty())
    return usage(fmt::format("{} {}: only one command can be started", shown, words[0]));
  if (words[0].empty()) return usage(fmt::format("{}: the command's name is empty", shown));
  command_.session.command = std::move(words);
  return {};
}

Status CommandBuilder::apply_color(const std::string& text) {
  if (text == "auto") {
    command_.color = ColorChoice::kAuto;
  } else if (text == "always") {
    command_.color = ColorChoice::kAlways;
  } else if (text == "never") {
    command_.color = ColorChoice::kNever;
  } else {
    return usage(fmt::format("--color: '{}' is not auto, always or never", text));
  }
  return {};
}

Status CommandBuilder::apply_backend(const std::string& text) {
  session::Backend& backend = command_.session.backend;
  if (text == "auto") {
    backend = session::Backend::kAuto;
  } else if (text == "jump") {
    backend = session::Backend::kJump;
  } else if (text == "trap") {
    backend = session::Backend::kTrap;
  } else if (text == "uprobe") {
    backend = session::Backend::kUprobe;
  } else {
    return usage(fmt::format("--backend: '{}' is not auto, jump, trap or uprobe", text));
  }
  return {};
}

Status CommandBuilder::apply_moved_faults(const std::string& text) {
  session::MovedFaults& moved_faults = command_.session.moved_faults;
  if (text == "auto") {
    moved_faults = session::MovedFaults::kAuto;
  } else if (text == "accept") {
    moved_faults = session::MovedFaults::kAccept;
  } else if (text == "refuse") {
    moved_faults = session::MovedFaults::kRefuse;
  } else {
    return usage(fmt::format("--moved-faults: '{}' is not auto, accept or refuse", text));
  }
  return {};
}

Status CommandBuilder::apply_clock(const std::string& text) {
  session::ClockChoice& clock = command_.session.clock;
  if (text == "auto") {
    clock = session::ClockChoice::kAuto;
  } else if (text == "tsc") {
    clock = session::ClockChoice::kTsc;
  } else if (text == "monotonic") {
    clock = session::ClockChoice::kMonotonic;
  } else {
    return usage(fmt::format("--clock: '{}' is not auto, tsc or monotonic", text));
  }
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

Result<Command> CommandBuilder::finish(const std::vector<std::string>& args) {
  if (command_.help) return std::move(command_);
  if (verb_.verb == Verb::kList) TRY_OK(finish_list());
  if (verb_.verb == Verb::kClean) TRY_OK(finish_clean());
  if (is_tracing(verb_.verb)) TRY_OK(finish_tracing(args));
  return std::move(command_);
}

}  // namespace blip::cli
