// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help/completion.h"
#include "cli/help/value_kind.h"
#include "cli/options/contexts.h"

namespace blip::cli {
namespace {

constexpr char kHead[] = R"sh(#compdef blip
# zsh completion for blip. Generated from blip's tables (src/cli): do not edit.

# PID:NAME of each process that may be looked into, in `processes`; the kernel's own have no executable.
_blip_find_processes() {
  local dir name
  processes=()
  for dir in /proc/<1->(N); do
    [[ -e $dir/exe ]] && { read -r name <$dir/comm } 2>/dev/null && processes+=("${dir:t}:$name")
  done
}

_blip_pids() {
  local -a processes
  _blip_find_processes
  _describe -V process processes
}

_blip_names() {
  local -aU processes
  _blip_find_processes
  processes=("${processes[@]#*:}")
  _wanted names expl 'process name' compadd -a processes
}
)sh";

constexpr char kTail[] = R"sh(
_blip() {
  local curcontext="$curcontext" state
  local -A opt_args
  _arguments -C '(- *)'{-h,--help}'[what blip does]' '(- *)'{-V,--version}'[the version]' \
    '1: :_blip_verbs' '*:: :->verb' && return
  [[ $state == verb ]] || return
  local dashes=${words[(i)--]}
  if (( dashes < CURRENT )) && _blip_takes_command $words[1]; then
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  _blip_verb $words[1]
}

_blip "$@"
)sh";

std::string_view action(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFree:
    case ValueKind::kFunction:
      return " ";
    case ValueKind::kContext:
      return "_blip_contexts";
    case ValueKind::kPid:
      return "_blip_pids";
    case ValueKind::kProcessName:
      return "_blip_names";
    case ValueKind::kDirectory:
      return "_files -/";
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kColor:
      return "_blip_colors";
    case ValueKind::kCommand:
      return "_command_names -e";
  }
  return " ";
}

// How _arguments wants an option: '(-o --output)'{-o+,--output=}'[text]:DIR:_files -/'
std::string argument(const OptionFact& fact) {
  std::vector<std::string> plain = spellings(fact);
  std::vector<std::string> marked;
  for (const std::string& word : plain)
    marked.push_back(fact.value.empty() ? word : word + (word.starts_with("--") ? "=" : "+"));
  std::string out = is_repeatable(fact) ? "'*'" : fmt::format("'({})'", fmt::join(plain, " "));
  out += marked.size() == 1 ? marked[0] : fmt::format("{{{}}}", fmt::join(marked, ","));
  out += fmt::format("'[{}]", menu_text(fact.help));
  if (!fact.value.empty()) out += fmt::format(":{}:{}", menu_text(fact.value), action(value_kind(fact)));
  return out + "'";
}

std::string words_function(std::string_view name, std::string_view tag, const std::string& words) {
  return fmt::format("\n{}() {{ _values -s , {} {} }}\n", name, tag, words);
}

std::string verbs_function() {
  std::string out = "\n_blip_verbs() {\n  local -a verbs=(\n";
  for (const VerbFact& verb : verb_table())
    out += fmt::format("    '{}:{}'\n", verb.name, menu_text(verb.summary));
  return out + "  )\n  _describe verb verbs\n}\n";
}

std::string verb_function() {
  std::string out = "\n_blip_verb() {  # VERB\n  case $1 in\n";
  std::string commands;
  for (const VerbFact& verb : verb_table()) {
    out += fmt::format("    {})\n      _arguments -s -S", verb.name);
    for (const OptionFact& fact : option_table())
      if (fact.verbs & verb_bit(verb.verb)) out += " \\\n        " + argument(fact);
    const Operands operands = operands_of(verb);
    if (operands.first) out += fmt::format(" \\\n        '1: :{}'", action(*operands.first));
    out += "\n      ;;\n";
    if (operands.command) commands += fmt::format(" {}", verb.name);
  }
  return out + "  esac\n}\n" +
         fmt::format("\n_blip_takes_command() {{ [[ ' {} ' == *\" $1 \"* ]] }}\n", commands);
}

}  // namespace

std::string zsh_completion() {
  std::string contexts = fmt::format("{}", fmt::join(plain_contexts(), " "));
  for (std::string_view name : register_names()) contexts += fmt::format(" reg\\:{}", name);
  return kHead + words_function("_blip_contexts", "context", contexts) +
         fmt::format("\n_blip_colors() {{ _values when {} }}\n", fmt::join(kColorWords, " ")) +
         verbs_function() + verb_function() + kTail;
}

}  // namespace blip::cli
