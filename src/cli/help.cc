// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace blip::cli {
namespace {

constexpr size_t kHelpColumn = 24;
constexpr size_t kLineWidth = 100;

// "  -p, -x, --pid PID"
std::string left_side(const OptionFact& fact) {
  std::string left = "  ";
  for (char letter : fact.short_names) left += fmt::format("-{}, ", letter);
  left += fmt::format("--{}", fact.long_name);
  if (!fact.value.empty()) left += fmt::format(" {}", fact.value);
  return left;
}

// `text` in lines, each indented to the help column, the first one joined to `left`.
std::string in_columns(std::string left, std::string_view text) {
  std::string out = std::move(left);
  out += out.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ')
                                      : std::string(kHelpColumn - out.size(), ' ');
  size_t column = kHelpColumn;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column > kHelpColumn && column + end + 1 > kLineWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    if (column > kHelpColumn) out += ' ', ++column;
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

// Pairs of lines, "what for" and the command.
std::string examples_text(std::string_view lines) {
  std::string out;
  for (bool command = false; !lines.empty(); command = !command) {
    const size_t end = lines.find('\n');
    out += fmt::format("{}{}\n", command ? "      " : "  # ", lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  return out;
}

// Of the first pair, with both line ends.
size_t pair_size(std::string_view lines) { return lines.find('\n', lines.find('\n') + 1) + 1; }

// The pair that starts a command: it works for everybody, whatever may be attached to.
std::string_view command_example() {
  std::string_view lines = verb_fact(Verb::kTrace).examples;
  while (!lines.empty() && lines.substr(0, pair_size(lines)).find(" -- ") == lines.npos)
    lines.remove_prefix(pair_size(lines));
  return lines.substr(0, lines.empty() ? 0 : pair_size(lines));
}

std::string options_text(Verb verb) {
  std::string out;
  const OptionGroup* current = nullptr;
  for (const OptionFact& fact : option_table()) {
    if (!(fact.verbs & verb_bit(verb))) continue;
    if (!current || *current != fact.group) out += fmt::format("\n{}:\n", group_title(fact.group));
    current = &fact.group;
    out += in_columns(left_side(fact), fact.help);
  }
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
  return fmt::format("{}: {}\n\n  {}\n\n{}\n\nExamples:\n{}{}", fact.name, fact.summary, fact.synopsis,
                     fact.explanation, examples_text(fact.examples), options_text(verb));
}

}  // namespace blip::cli
