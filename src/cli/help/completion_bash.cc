// SPDX-License-Identifier: MIT
// Needs nothing of the package bash-completion; uses its _command_offset after -- if it is there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help/completion.h"
#include "cli/help/value_kind.h"
#include "cli/options/contexts.h"

namespace blip::cli {
namespace {

constexpr char kHead[] = R"(# bash completion for blip. Generated from blip's tables (src/cli): do not edit.

)";

constexpr char kBody[] = R"sh(
# "PID NAME" of each process that may be looked into; the kernel's own have no executable.
_blip_processes() {
  local dir name
  for dir in /proc/[0-9]*; do
    [[ -e $dir/exe ]] && { read -r name <"$dir/comm"; } 2>/dev/null && printf '%s %s\n' "${dir#/proc/}" "$name"
  done
}

# Names beside the pids, only where bash lists them: in the command line a pid stands alone.
_blip_pids() {
  local pid name found=() shown=()
  while read -r pid name; do
    [[ $pid == "$1"* ]] || continue
    found+=("$pid") shown+=("$pid ($name)")
  done < <(_blip_processes)
  if [[ ${#found[@]} -gt 1 && ${COMP_TYPE:-9} == @(63|33|64) ]]; then
    printf '%s\n' "${shown[@]}"
  elif [[ ${#found[@]} -gt 0 ]]; then
    printf '%s\n' "${found[@]}"
  fi
}

_blip_names() {
  local name
  _blip_processes | while read -r _ name; do [[ $name == "$1"* ]] && printf '%q\n' "$name"; done | sort -u
}

# Words that begin with $1, the last of a list separated by commas.
_blip_context_words() {
  local before="" last=$1
  [[ $1 == *,* ]] && before=${1%,*}, last=${1##*,}
  compgen -P "$before" -W "$(_blip_contexts)" -- "$last"
}

_blip_values() {  # KIND WORD
  case $1 in
    pid) _blip_pids "$2" ;;
    name) _blip_names "$2" ;;
    context) _blip_context_words "$2" ;;
    color) compgen -W "$(_blip_colors)" -- "$2" ;;
    directory) compgen -d -- "$2" ;;
    file) compgen -f -- "$2" ;;
    command) compgen -c -- "$2" ;;
  esac
}

_blip() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word="" lead="" kind="" verb i
  COMPREPLY=()
  read -r -a words <<<"$line"
  if [[ $line != *[[:space:]] ]]; then
    word=${words[${#words[@]} - 1]}
    unset "words[${#words[@]}-1]"
  fi
  verb=${words[1]-}
  if [[ -z $verb ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_blip_verbs) --help --version" -- "$word")
    return
  fi
  if _blip_takes_command "$verb"; then
    for ((i = 2; i < ${#words[@]}; i++)); do
      [[ ${words[i]} == -- ]] || continue
      _blip_command
      return
    done
  fi
  kind=$(_blip_value_kind "${words[${#words[@]} - 1]}")
  if [[ $word == --*=* ]]; then
    lead=${word%%=*}=
    kind=$(_blip_value_kind "${lead%=}")
    word=${word#*=}
  fi
  [[ -z $kind && $word != -* ]] && kind=$(_blip_operand "$verb")
  if [[ -n $kind ]]; then
    mapfile -t COMPREPLY < <(_blip_values "$kind" "$word")
    [[ $kind == directory || $kind == file ]] && compopt -o filenames 2>/dev/null
    [[ $kind == context ]] && compopt -o nospace 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W "$(_blip_options "$verb")" -- "$word")
  fi
  # bash replaces only what follows the last = or : of the word.
  local typed=$lead$word kept=""
  [[ $COMP_WORDBREAKS == *=* && $typed == *=* ]] && kept=${typed%=*}=
  [[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && kept=${typed%:*}:
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=$lead${COMPREPLY[i]}
    COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
  done
}

# The command after --, completed as if it stood alone.
_blip_command() {
  local i first
  for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && first=$((i + 1)) && break
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset "$first"
  elif [[ $COMP_CWORD == "$first" ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    compopt -o filenames 2>/dev/null
  fi
}

complete -F _blip blip
)sh";

std::string_view kind_word(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFree:
    case ValueKind::kFunction:
      return "none";
    case ValueKind::kContext:
      return "context";
    case ValueKind::kPid:
      return "pid";
    case ValueKind::kProcessName:
      return "name";
    case ValueKind::kDirectory:
      return "directory";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kColor:
      return "color";
    case ValueKind::kCommand:
      return "command";
  }
  return "none";
}

std::string words_function(std::string_view name, std::string_view words) {
  return fmt::format("{}() {{ echo '{}'; }}\n", name, words);
}

std::string options_function() {
  std::string out = "_blip_options() {  # VERB\n  case $1 in\n";
  for (const VerbFact& verb : verb_table()) {
    std::vector<std::string> words;
    for (const OptionFact& fact : option_table())
      if (fact.verbs & verb_bit(verb.verb))
        for (std::string& word : spellings(fact)) words.push_back(std::move(word));
    out += fmt::format("    {}) echo '{}' ;;\n", verb.name, fmt::join(words, " "));
  }
  return out + "  esac\n}\n";
}

std::string value_kind_function() {
  std::string out = "_blip_value_kind() {  # OPTION\n  case $1 in\n";
  for (const OptionFact& fact : option_table())
    if (fact.id != OptionId::kLater && !fact.value.empty())
      out +=
          fmt::format("    {}) echo {} ;;\n", fmt::join(spellings(fact), " | "), kind_word(value_kind(fact)));
  return out + "  esac\n}\n";
}

std::string operand_functions() {
  std::string kinds = "_blip_operand() {  # VERB\n  case $1 in\n";
  std::string commands;
  for (const VerbFact& verb : verb_table()) {
    const Operands operands = operands_of(verb);
    if (operands.first) kinds += fmt::format("    {}) echo {} ;;\n", verb.name, kind_word(*operands.first));
    if (operands.command) commands += fmt::format(" {}", verb.name);
  }
  return kinds + "  esac\n}\n" +
         fmt::format("_blip_takes_command() {{ [[ ' {} ' == *\" $1 \"* ]]; }}\n", commands);
}

}  // namespace

std::string bash_completion() {
  std::vector<std::string_view> verbs;
  for (const VerbFact& verb : verb_table()) verbs.push_back(verb.name);
  std::string contexts = fmt::format("{}", fmt::join(plain_contexts(), " "));
  for (std::string_view name : register_names()) contexts += fmt::format(" reg:{}", name);
  return kHead + words_function("_blip_verbs", fmt::format("{}", fmt::join(verbs, " "))) +
         words_function("_blip_contexts", contexts) +
         words_function("_blip_colors", fmt::format("{}", fmt::join(kColorWords, " "))) + options_function() +
         value_kind_function() + operand_functions() + kBody;
}

}  // namespace blip::cli
