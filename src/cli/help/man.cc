// SPDX-License-Identifier: MIT
#include "cli/help/man.h"

#include <fmt/format.h>

#include "cli/help/help.h"
#include "cli/help/roff.h"
#include "cli/help/topics.h"
#include "cli/options/option_table.h"

namespace blip::cli {
namespace {

std::string verb_names(unsigned verbs) {
  std::string names;
  for (const VerbFact& verb : verb_table())
    if (verbs & verb_bit(verb.verb)) names += fmt::format("{}{}", names.empty() ? "" : ", ", verb.name);
  return names;
}

unsigned all_verbs() {
  unsigned all = 0;
  for (const VerbFact& verb : verb_table()) all |= verb_bit(verb.verb);
  return all;
}

bool is_shown(const OptionFact& fact) { return fact.id != OptionId::kLater; }

std::string synopsis() {
  std::string out = ".SH SYNOPSIS\n";
  for (const VerbFact& verb : verb_table()) out += fmt::format("{}\n.br\n", roff_usage(verb.synopsis));
  return out + roff_usage("blip help [VERB | --OPTION] | --help | --version") + "\n";
}

// Pairs of lines, "what for" and the command.
std::string examples(std::string_view lines) {
  std::string out;
  for (bool command = false; !lines.empty(); command = !command) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() + 1);
    if (command) {
      out += fmt::format(".PP\n.in +4n\n.nf\n{}\n.fi\n.in\n", roff_escaped(line));
    } else {
      out += fmt::format(".PP\n{}{}\n", roff_escaped(line), line.ends_with('?') ? "" : ":");
    }
  }
  return out;
}

std::string option_names(Verb verb) {
  std::string names;
  for (const OptionFact& fact : option_table())
    if (fact.verbs & verb_bit(verb))
      names += fmt::format("{}`--{}`", names.empty() ? "" : ", ", fact.long_name);
  return roff_text("Options: " + names + ".");
}

std::string commands() {
  std::string out = ".SH COMMANDS\n";
  for (const VerbFact& verb : verb_table())
    out += fmt::format(".SS {}\n{}\n.PP\n{}.PP\n{}\n{}", verb.name, roff_usage(verb.synopsis),
                       roff_paragraphs(verb.explanation), option_names(verb.verb), examples(verb.examples));
  return out;
}

std::string options() {
  std::string out = ".SH OPTIONS\n";
  const OptionGroup* current = nullptr;
  for (const OptionFact& fact : option_table()) {
    if (!is_shown(fact)) continue;
    if (!current || *current != fact.group)
      out += fmt::format(".SS {}\n", roff_escaped(group_title(fact.group)));
    current = &fact.group;
    const bool some = fact.verbs != 0 && fact.verbs != all_verbs();
    out += fmt::format(".TP\n{}\n{}.{}\n", option_title(fact), roff_text(fact.help),
                       some ? fmt::format(" ({})", verb_names(fact.verbs)) : "");
  }
  return out;
}

std::string topic(const Topic& topic) {
  std::string out = fmt::format(".SH {}\n{}", topic.title, roff_paragraphs(topic.text));
  for (const Term& term : topic.terms)
    out += fmt::format(".TP\n{}\n{}.\n", roff_usage(term.term), roff_text(term.text));
  return out;
}

}  // namespace

std::string option_title(const OptionFact& fact) {
  std::string title;
  for (char letter : fact.short_names) title += fmt::format("-{}, ", letter);
  title += fmt::format("--{}", fact.long_name);
  if (!fact.value.empty()) title += fmt::format(" {}", fact.value);
  return roff_usage(title);
}

std::string man_page(const std::string& date) {
  std::string out = fmt::format(
      ".\\\" Generated from blip's tables (src/cli): do not edit.\n.TH BLIP 1 {} \"blip {}\" "
      "\"User Commands\"\n.SH NAME\nblip \\- {}\n",
      date, kVersion, roff_escaped(one_line_description()));
  out += synopsis() + ".SH DESCRIPTION\n" + roff_paragraphs(description()) + topic(first_topic()) +
         commands() + options();
  for (const Topic& t : topics()) out += topic(t);
  return roff_filled(out) +
         ".SH SEE ALSO\n.BR babeltrace2 (1),\n.BR gdb (1),\n.BR ptrace (2),\n.BR proc (5)\n";
}

}  // namespace blip::cli
