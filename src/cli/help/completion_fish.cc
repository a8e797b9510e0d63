// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help/completion.h"
#include "cli/help/value_kind.h"
#include "cli/options/contexts.h"

namespace blip::cli {
namespace {

constexpr char kHead[] = R"sh(# fish completion for blip. Generated from blip's tables (src/cli): do not edit.

# PID and NAME of each process that may be looked into; the kernel's own have no executable.
function __blip_processes
    for line in (sh -c 'cd /proc && grep -s "" [0-9]*/comm')
        set -l parts (string split -m 1 /comm: $line)
        test -e /proc/$parts[1]/exe; and printf '%s\t%s\n' $parts
    end
end

function __blip_names
    __blip_processes | string replace -r '^\d+\t' '' | sort -u
end

# The last of a list separated by commas.
function __blip_contexts
    set -l before (string match -r '^.*,' -- (string replace -r '^--[a-z]+=' '' -- (commandline -ct)))
    printf '%s\n' "$before"(__blip_context_words)
end

function __blip_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# The command after --, completed as if it stood alone.
function __blip_after_dashes
    contains -- -- (commandline -opc)
end

function __blip_command
    set -l words (commandline -opc)
    set -l first (math (contains -i -- -- $words) + 1)
    set -l before
    test $first -le (count $words); and set before (string escape -- $words[$first..-1])
    complete -C (string join ' ' -- $before (commandline -ct))
end

complete -c blip -f
)sh";

// The argument of -a: words, or a command that prints them.
std::string_view source(ValueKind kind) {
  switch (kind) {
    case ValueKind::kContext:
      return "(__blip_contexts)";
    case ValueKind::kPid:
      return "(__blip_processes)";
    case ValueKind::kProcessName:
      return "(__blip_names)";
    case ValueKind::kDirectory:
      return "(__fish_complete_directories (commandline -ct))";
    case ValueKind::kFile:
      return "(__fish_complete_path (commandline -ct))";
    case ValueKind::kCommand:
      return "(__fish_complete_command)";
    case ValueKind::kColor:
      return "auto always never";
    case ValueKind::kFree:
    case ValueKind::kFunction:
      break;
  }
  return "";
}

std::string verbs_of(const OptionFact& fact) {
  std::string names;
  for (const VerbFact& verb : verb_table())
    if (fact.verbs & verb_bit(verb.verb)) names += fmt::format(" {}", verb.name);
  return names;
}

std::string option_line(const OptionFact& fact) {
  std::string out = "complete -c blip";
  out += fact.verbs ? fmt::format(" -n '__blip_verb{}'", verbs_of(fact)) : " -n __fish_use_subcommand";
  for (char letter : fact.short_names) out += fmt::format(" -s {}", letter);
  out += fmt::format(" -l {}", fact.long_name);
  if (!fact.value.empty()) out += " -x";
  const std::string_view from = source(value_kind(fact));
  if (!fact.value.empty() && !from.empty()) out += fmt::format(" -a '{}'", from);
  return out + fmt::format(" -d '{}'\n", menu_text(fact.help));
}

std::string verb_lines(const VerbFact& verb) {
  std::string out = fmt::format("complete -c blip -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                                menu_text(verb.summary));
  const Operands operands = operands_of(verb);
  if (operands.first)
    out += fmt::format("complete -c blip -n '__blip_verb {}' -a '{}'\n", verb.name, source(*operands.first));
  if (operands.command)
    out += fmt::format(
        "complete -c blip -n '__blip_verb {}; and __blip_after_dashes' -a '(__blip_command)'\n", verb.name);
  return out;
}

}  // namespace

std::string fish_completion() {
  std::string contexts = fmt::format("{}", fmt::join(plain_contexts(), " "));
  for (std::string_view name : register_names()) contexts += fmt::format(" reg:{}", name);
  std::string out = kHead;
  out += fmt::format("\nfunction __blip_context_words\n    printf '%s\\n' {}\nend\n\n", contexts);
  for (const VerbFact& verb : verb_table()) out += verb_lines(verb);
  out += "complete -c blip -n __fish_use_subcommand -s h -l help -d 'what blip does'\n";
  for (const OptionFact& fact : option_table())
    if (fact.id != OptionId::kLater) out += option_line(fact);
  return out;
}

}  // namespace blip::cli
