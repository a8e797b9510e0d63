// SPDX-License-Identifier: MIT
// Every verb and every option, once: parsing, --help and the manual are made from these tables.
#pragma once

#include <span>
#include <string_view>

namespace blip::cli {

enum class Verb { kNone, kTrace, kRecord, kCount, kRun, kList, kView, kClean };

struct VerbFact {
  Verb verb;
  std::string_view name;
  std::string_view synopsis;
  std::string_view summary;
  std::string_view explanation;  // paragraphs for `blip VERB --help`
  std::string_view examples;     // pairs of lines: what for, the command
};

enum class OptionId {
  kScriptText,
  kLanguage,
  kGlobal,
  kDefine,
  kParseOnly,
  kCheck,
  kDryRun,
  kMayRunCommands,
  kListPoints,
  kListVariables,
  kExplain,
  kFormat,
  kFunction,
  kReturn,
  kProbe,
  kLine,
  kMark,
  kEveryInstruction,
  kFilter,
  kArgs,
  kLocals,
  kCapture,
  kStringMax,
  kElements,
  kDepth,
  kNoInline,
  kNoTid,
  kLatency,
  kContext,
  kPid,
  kName,
  kWait,
  kCommand,
  kNoFollowFork,
  kFollowExec,
  kWaitLibrary,
  kLifecycle,
  kOutput,
  kOutputFile,
  kDuration,
  kMaxPause,
  kMaxEvents,
  kNumSubbuf,
  kSubbufSize,
  kMaxProbes,
  kClock,
  kBackend,
  kAllowTrap,
  kMovedFaults,
  kAllowInit,
  kAll,
  kSave,
  kViewFunction,
  kThread,
  kFrom,
  kTo,
  kHead,
  kCoverage,
  kMarks,
  kJson,
  kHex,
  kColor,
  kVerbose,
  kQuiet,
  kHelp,
  kVersion,
  kLater,  // in the design, not in this version: refused by name, absent from --help
};

enum class OptionGroup { kScript, kProbes, kEvents, kTarget, kEnd, kOutput, kBuffers, kGeneral };

// One bit per verb in OptionFact::verbs.
constexpr unsigned verb_bit(Verb verb) { return 1U << static_cast<unsigned>(verb); }

struct OptionFact {
  OptionId id;
  OptionGroup group;
  std::string_view short_names;  // each letter is a synonym; the first is shown first
  std::string_view long_name;    // without the dashes; empty: none
  std::string_view value;        // what --help calls the value; empty: the option takes none
  std::string_view help;         // the whole of it, for the manual
  unsigned verbs;                // no two rows of one name share a verb
  std::string_view brief = {};   // for --help; empty: only its name is shown there
};

std::span<const VerbFact> verb_table();
std::span<const OptionFact> option_table();
std::string_view group_title(OptionGroup group);

const VerbFact* find_verb(std::string_view name);
const VerbFact& verb_fact(Verb verb);
// The verb's own option of that name; if it has none, another verb's.
const OptionFact* find_long_option(std::string_view name, Verb verb);
const OptionFact* find_short_option(char name, Verb verb);

}  // namespace blip::cli
