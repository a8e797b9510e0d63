// SPDX-License-Identifier: MIT
#include "cli/help/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace blip::cli {
namespace {

constexpr size_t kHelpColumn = 24;
constexpr size_t kLineWidth = 80;
constexpr size_t kTwoScreens = 48;  // lines of the help of a verb
constexpr std::string_view kMore =
    "man blip has the whole manual, `blip help --OPTION` all about an option.\n";

// "  -p, -x, --pid PID"
std::string left_side(const OptionFact& fact) {
  std::string left = "  ";
  for (char letter : fact.short_names) left += fmt::format("-{}, ", letter);
  left += fmt::format("--{}", fact.long_name);
  if (!fact.value.empty()) left += fmt::format(" {}", fact.value);
  return left;
}

// `text` behind `out`, the lines that follow indented. Line breaks in it are blanks.
std::string wrapped(std::string out, std::string_view text, size_t indent) {
  size_t column = out.size();
  bool is_first = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (!is_first && column + end + 1 > kLineWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ', ++column;
    }
    is_first = false;
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

// Two blanks at least between an option and its text.
std::string in_columns(std::string left, std::string_view text) {
  constexpr size_t kBetween = 2;
  left.resize(std::max(left.size() + kBetween, kHelpColumn), ' ');
  return wrapped(std::move(left), text, kHelpColumn);
}

size_t line_count(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Pairs of lines, "what for" and the command.
std::string examples_text(std::string_view lines) {
  std::string out;
  for (bool command = false; !lines.empty(); command = !command) {
    const size_t end = lines.find('\n');
    out += fmt::format("{}{}\n", command ? "    " : "  # ", lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  return out;
}

// Returns the size of the first pair, with both line ends.
size_t pair_size(std::string_view lines) { return lines.find('\n', lines.find('\n') + 1) + 1; }

// The pair that starts a command: it works for everybody, whatever may be attached to.
std::string_view command_example() {
  std::string_view lines = verb_fact(Verb::kTrace).examples;
  while (!lines.empty() && lines.substr(0, pair_size(lines)).find(" -- ") == lines.npos)
    lines.remove_prefix(pair_size(lines));
  return lines.substr(0, lines.empty() ? 0 : pair_size(lines));
}

std::string options_text(Verb verb) {
  std::string out, others;
  const OptionGroup* current = nullptr;
  for (const OptionFact& fact : option_table()) {
    if (!(fact.verbs & verb_bit(verb))) continue;
    if (fact.brief.empty()) {
      others += fmt::format("{}--{}", others.empty() ? "" : " ", fact.long_name);
      continue;
    }
    if (!current || *current != fact.group) out += fmt::format("{}:\n", group_title(fact.group));
    current = &fact.group;
    out += in_columns(left_side(fact), fact.brief);
  }
  return others.empty() ? out : out + wrapped("Others: ", others, 2);
}

// As many as `lines` have room for, at least one.
std::string examples_in(std::string_view examples, size_t lines) {
  std::string out = "Examples:\n";
  do {
    out += examples_text(examples.substr(0, pair_size(examples)));
    examples.remove_prefix(pair_size(examples));
  } while (!examples.empty() && line_count(out) + 2 <= lines);
  return out;
}

}  // namespace

std::string general_help() {
  std::string out =
      "blip traces functions of a running process: no root, no restart, no library loaded into it.\n\n"
      "Try, with the pid of one of your processes:\n\n";
  for (const VerbFact& fact : verb_table())
    out += examples_text(fact.examples.substr(0, pair_size(fact.examples)));
  out += "\nOr with a command:\n\n" + examples_text(command_example());
  out += "\nVerbs:\n";
  for (const VerbFact& fact : verb_table())
    out += fmt::format("  {:<8}{}\n          {}\n", fact.name, fact.summary, fact.synopsis);
  out +=
      "\nblip help VERB shows the options and more examples, man blip the whole manual.\n"
      "Exit codes: 0 fine, 1 failed or nothing matched, 2 wrong usage; with -c or -- the command's own.\n";
  return out;
}

std::string verb_help(Verb verb) {
  const VerbFact& fact = verb_fact(verb);
  const std::string begin =
      fmt::format("{}: {}\n", fact.name, fact.summary) + wrapped("  ", fact.synopsis, 6);
  const std::string explanation = wrapped("", fact.explanation, 0);
  const std::string end = options_text(verb) + std::string(kMore);
  const size_t room = kTwoScreens - std::min(kTwoScreens, line_count(begin + end));
  constexpr size_t kFewExamples = 3;  // lines
  const bool explained = line_count(explanation) + kFewExamples <= room;
  return begin + (explained ? explanation : "") +
         examples_in(fact.examples, room - (explained ? line_count(explanation) : 0)) + end;
}

std::string option_help(std::string_view long_name) {
  std::string out;
  for (const OptionFact& fact : option_table()) {
    if (fact.long_name != long_name || fact.id == OptionId::kLater) continue;
    std::string verbs;
    for (const VerbFact& verb : verb_table())
      if (fact.verbs & verb_bit(verb.verb))
        verbs += fmt::format("{}{}", verbs.empty() ? "" : ", ", verb.name);
    const std::string title = left_side(fact).substr(2) + (verbs.empty() ? "" : fmt::format(" ({})", verbs));
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", title) + wrapped("  ", fact.help, 2);
  }
  return out;
}

}  // namespace blip::cli
