// SPDX-License-Identifier: MIT
// What each option does to the command that is built: one row per option, in the order of OptionId.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "cli/options/command_builder.h"
#include "cli/options/contexts.h"
#include "cli/options/probe_options.h"
#include "cli/options/shell_words.h"
#include "cli/options/spread.h"
#include "cli/options/usage_error.h"
#include "cli/options/values.h"

namespace blip::cli {
namespace {

using session::Options;

constexpr uint32_t kLeastSubbufSize = 4096;
constexpr uint32_t kMostSubbufSize = 1U << 30;
constexpr uint32_t kLeastSubbufs = 2;
constexpr uint32_t kMostSubbufs = 1U << 16;
constexpr uint32_t kMostString = 1024;
constexpr uint32_t kMostElements = 1000;
constexpr uint32_t kDeepest = 8;
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

std::string with_dashes(const OptionFact& fact) {
  return fact.long_name.empty() ? fmt::format("-{}", fact.short_names[0])
                                : fmt::format("--{}", fact.long_name);
}

// parse_X(...) into `where`, an error with the option's name in front.
template <typename T, typename Where>
Status assign(const OptionFact& fact, Result<T> parsed, Where& where) {
  if (!parsed) return parsed.error().with_context(with_dashes(fact));
  where = static_cast<Where>(*std::move(parsed));
  return {};
}

// The member of a command, of its session's options or of its selection.
template <typename T>
T& member(Command& command, T Command::*which) {
  return command.*which;
}
template <typename T>
T& member(Command& command, T Options::*which) {
  return command.session.*which;
}
template <typename T>
T& member(Command& command, T ViewSelection::*which) {
  return command.selection.*which;
}

template <typename T>
T& member(Command& command, T RunOptions::*which) {
  return command.run.*which;
}

template <typename T>
struct Choice {
  std::string_view word;
  T value;
};

template <typename T, size_t N>
Status choose(const OptionFact& fact, const std::string& word, const Choice<T> (&choices)[N], T& where) {
  std::string words;
  for (size_t i = 0; i < N; ++i) {
    if (choices[i].word == word) {
      where = choices[i].value;
      return {};
    }
    words += fmt::format("{}{}", i == 0 ? "" : i + 1 == N ? " or " : ", ", choices[i].word);
  }
  return usage(fmt::format("{}: '{}' is not {}", with_dashes(fact), word, words));
}

}  // namespace

struct CommandBuilder::Rules {
  // An option with its value.
  struct Given {
    const OptionFact& fact;
    const std::string& value;
  };
  using Rule = Status (*)(CommandBuilder&, const Given&);
  struct Row {
    OptionId id;
    Rule rule;
  };

  template <auto kMember, bool kValue = true>
  static Status flag(CommandBuilder& builder, const Given&) {
    member(builder.command_, kMember) = kValue;
    return {};
  }

  template <auto kMember, uint64_t kMost>
  static Status number(CommandBuilder& builder, const Given& given) {
    return assign(given.fact, parse_number(given.value, 1, kMost), member(builder.command_, kMember));
  }

  template <auto kMember, auto kParse>
  static Status parsed(CommandBuilder& builder, const Given& given) {
    return assign(given.fact, kParse(given.value), member(builder.command_, kMember));
  }

  template <auto kMember, uint32_t kLeast, uint32_t kMost>
  static Status buffers(CommandBuilder& builder, const Given& given) {
    builder.command_.session.buffers_given = true;
    return assign(given.fact, parse_power_of_two(given.value, kLeast, kMost),
                  member(builder.command_, kMember));
  }

  static Status probe(CommandBuilder& builder, const Given& given) {
    TRY(session::ProbeRequest request, parse_probe(given.fact.id, given.value));
    builder.command_.session.probes.push_back(std::move(request));
    return {};
  }

  static Status data(CommandBuilder& builder, const Given& given) {
    return builder.data_.apply(given.fact.id, given.value, builder.command_.session.probes);
  }

  static Status context(CommandBuilder& builder, const Given& given) {
    auto contexts = parse_contexts(given.value);
    if (!contexts) return contexts.error().with_context("--context");
    std::vector<session::ProbeRequest>& probes = builder.command_.session.probes;
    auto& where = probes.empty() ? builder.for_all_ : probes.back().contexts;
    where = merge_contexts(where, *contexts);
    return {};
  }

  static Status pid(CommandBuilder& builder, const Given& given) {
    auto pid = parse_number(given.value, 1, std::numeric_limits<pid_t>::max());
    if (!pid) return pid.error().with_context("-p");
    std::vector<pid_t>& pids = builder.command_.session.pids;
    if (std::find(pids.begin(), pids.end(), static_cast<pid_t>(*pid)) == pids.end())
      pids.push_back(static_cast<pid_t>(*pid));
    return {};
  }

  static Status name(CommandBuilder& builder, const Given& given) {
    std::string& name = builder.command_.session.process_name;
    if (given.value.empty()) return usage("-n: the name is empty");
    if (!name.empty()) return usage(fmt::format("-n {}: only one name can be given", given.value));
    name = given.value;
    return {};
  }

  static Status command(CommandBuilder& builder, const Given& given) {
    auto words = split_shell_words(given.value);
    if (!words) return words.error().with_context(fmt::format("-c \"{}\"", given.value));
    return builder.set_command(*std::move(words), "-c");
  }

  static Status color(CommandBuilder& builder, const Given& given) {
    static constexpr Choice<ColorChoice> kChoices[] = {
        {"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}};
    return choose(given.fact, given.value, kChoices, builder.command_.color);
  }

  static Status clock(CommandBuilder& builder, const Given& given) {
    using session::ClockChoice;
    static constexpr Choice<ClockChoice> kChoices[] = {
        {"auto", ClockChoice::kAuto}, {"tsc", ClockChoice::kTsc}, {"monotonic", ClockChoice::kMonotonic}};
    return choose(given.fact, given.value, kChoices, builder.command_.session.clock);
  }

  static Status backend(CommandBuilder& builder, const Given& given) {
    using session::Backend;
    static constexpr Choice<Backend> kChoices[] = {{"auto", Backend::kAuto},
                                                   {"jump", Backend::kJump},
                                                   {"trap", Backend::kTrap},
                                                   {"uprobe", Backend::kUprobe}};
    return choose(given.fact, given.value, kChoices, builder.command_.session.backend);
  }

  static Status moved_faults(CommandBuilder& builder, const Given& given) {
    using session::MovedFaults;
    static constexpr Choice<MovedFaults> kChoices[] = {
        {"auto", MovedFaults::kAuto}, {"accept", MovedFaults::kAccept}, {"refuse", MovedFaults::kRefuse}};
    return choose(given.fact, given.value, kChoices, builder.command_.session.moved_faults);
  }

  static Status output_directory(CommandBuilder& builder, const Given& given) {
    if (given.value.empty()) return usage("-o: the directory's name is empty");
    builder.command_.session.output_dir = given.value;
    return {};
  }

  static Status output_file(CommandBuilder& builder, const Given& given) {
    if (given.value.empty()) return usage("-o: the file's name is empty");
    builder.command_.output_file = given.value;
    return {};
  }

  static Status save(CommandBuilder& builder, const Given& given) {
    if (given.value.empty()) return usage("--save: the directory's name is empty");
    builder.command_.save_dir = given.value;
    return {};
  }

  static Status view_function(CommandBuilder& builder, const Given& given) {
    if (given.value.empty()) return usage("--function: the name is empty");
    builder.command_.selection.functions.push_back(given.value);
    return {};
  }

  static Status thread(CommandBuilder& builder, const Given& given) {
    int64_t thread = 0;
    TRY_OK(assign(given.fact, parse_number(given.value, 1, std::numeric_limits<pid_t>::max()), thread));
    builder.command_.selection.threads.push_back(thread);
    return {};
  }

  static Status script_text(CommandBuilder& builder, const Given& given) {
    RunOptions& run = builder.command_.run;
    if (run.is_text) return usage("-e: only one script can be given");
    run.is_text = true;
    run.script = given.value;
    return {};
  }

  static Status language(CommandBuilder& builder, const Given& given) {
    if (given.value.empty()) return usage("--lang: the language's name is empty");
    builder.command_.run.language = given.value;
    return {};
  }

  // NAME=VALUE
  template <auto kMember>
  static Status assignment(CommandBuilder& builder, const Given& given) {
    const size_t equals = given.value.find('=');
    if (equals == 0 || equals == std::string::npos)
      return usage(fmt::format("{} '{}': it is written NAME=VALUE", with_dashes(given.fact), given.value));
    member(builder.command_, kMember)
        .emplace_back(given.value.substr(0, equals), given.value.substr(equals + 1));
    return {};
  }

  template <bool kVariables>
  static Status list_point(CommandBuilder& builder, const Given& given) {
    RunOptions& run = builder.command_.run;
    if (given.value.empty())
      return usage(fmt::format("{}: the probe point is empty", with_dashes(given.fact)));
    run.list_point = given.value;
    run.list_variables = kVariables;
    return {};
  }

  static Status format(CommandBuilder& builder, const Given& given) {
    static constexpr Choice<bool> kChoices[] = {{"text", false}, {"json", true}};
    return choose(given.fact, given.value, kChoices, builder.command_.run.json);
  }

  static Status later(CommandBuilder&, const Given& given) {
    return usage(fmt::format("{} is not available in this version", with_dashes(given.fact)));
  }

  static const Row kTable[];
};

constexpr CommandBuilder::Rules::Row CommandBuilder::Rules::kTable[] = {
    {OptionId::kScriptText, script_text},
    {OptionId::kLanguage, language},
    {OptionId::kGlobal, assignment<&RunOptions::globals>},
    {OptionId::kDefine, assignment<&RunOptions::defines>},
    {OptionId::kParseOnly, flag<&RunOptions::parse_only>},
    {OptionId::kCheck, flag<&RunOptions::check>},
    {OptionId::kDryRun, flag<&RunOptions::dry_run>},
    {OptionId::kMayRunCommands, flag<&RunOptions::may_run_commands>},
    {OptionId::kListPoints, list_point<false>},
    {OptionId::kListVariables, list_point<true>},
    {OptionId::kExplain, flag<&RunOptions::explain>},
    {OptionId::kFormat, format},
    {OptionId::kFunction, probe},
    {OptionId::kReturn, probe},
    {OptionId::kProbe, probe},
    {OptionId::kLine, probe},
    {OptionId::kMark, probe},
    {OptionId::kEveryInstruction, probe},
    {OptionId::kFilter, data},
    {OptionId::kArgs, data},
    {OptionId::kLocals, data},
    {OptionId::kCapture, data},
    {OptionId::kStringMax, number<&Options::string_max, kMostString>},
    {OptionId::kElements, number<&Options::elements, kMostElements>},
    {OptionId::kDepth, number<&Options::depth, kDeepest>},
    {OptionId::kNoInline, flag<&Options::no_inline>},
    {OptionId::kNoTid, flag<&Options::no_tid>},
    {OptionId::kLatency, flag<&Options::latencies>},
    {OptionId::kContext, context},
    {OptionId::kPid, pid},
    {OptionId::kName, name},
    {OptionId::kWait, flag<&Options::wait_for_processes>},
    {OptionId::kCommand, command},
    {OptionId::kNoFollowFork, flag<&Options::follow_fork, false>},
    {OptionId::kFollowExec, flag<&Options::follow_exec>},
    {OptionId::kWaitLibrary, flag<&Options::wait_library>},
    {OptionId::kLifecycle, flag<&Options::lifecycle>},
    {OptionId::kOutput, output_directory},
    {OptionId::kOutputFile, output_file},
    {OptionId::kDuration, parsed<&Options::duration, parse_duration>},
    {OptionId::kMaxPause, parsed<&Options::max_pause, parse_short_duration>},
    {OptionId::kMaxEvents, number<&Options::max_events, kNoLimit>},
    {OptionId::kNumSubbuf, buffers<&Options::subbuf_count, kLeastSubbufs, kMostSubbufs>},
    {OptionId::kSubbufSize, buffers<&Options::subbuf_size, kLeastSubbufSize, kMostSubbufSize>},
    {OptionId::kMaxProbes, number<&Options::max_probes, std::numeric_limits<uint32_t>::max()>},
    {OptionId::kClock, clock},
    {OptionId::kBackend, backend},
    {OptionId::kAllowTrap, flag<&Options::allow_trap>},
    {OptionId::kMovedFaults, moved_faults},
    {OptionId::kAllowInit, flag<&Options::allow_init>},
    {OptionId::kAll, flag<&Command::clean_all>},
    {OptionId::kSave, save},
    {OptionId::kViewFunction, view_function},
    {OptionId::kThread, thread},
    {OptionId::kFrom, parsed<&ViewSelection::from, TraceTime::parse>},
    {OptionId::kTo, parsed<&ViewSelection::to, TraceTime::parse>},
    {OptionId::kHead, number<&ViewSelection::head, kNoLimit>},
    {OptionId::kCoverage, flag<&Command::coverage>},
    {OptionId::kMarks, flag<&Command::marks>},
    {OptionId::kJson, flag<&Command::json>},
    {OptionId::kHex, flag<&Options::hex>},
    {OptionId::kColor, color},
    {OptionId::kVerbose, flag<&Options::verbose>},
    {OptionId::kQuiet, flag<&Command::quiet>},
    {OptionId::kHelp, flag<&Command::help>},
    {OptionId::kVersion, flag<&Command::version>},
    {OptionId::kLater, later},
};

Status CommandBuilder::apply(const OptionFact& fact, const std::string& value) {
  constexpr bool kIsInOrder = [] {
    for (size_t i = 0; i < std::size(Rules::kTable); ++i)
      if (Rules::kTable[i].id != static_cast<OptionId>(i)) return false;
    return std::size(Rules::kTable) == static_cast<size_t>(OptionId::kLater) + 1;
  }();
  static_assert(kIsInOrder, "an option without a rule, or a rule at another place");
  return Rules::kTable[static_cast<size_t>(fact.id)].rule(*this, {fact, value});
}

}  // namespace blip::cli
