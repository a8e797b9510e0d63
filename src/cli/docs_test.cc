// SPDX-License-Identifier: MIT
// The manual and the completions say what the tables say, for all of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/man.h"
#include "cli/help/roff.h"
#include "cli/help/topics.h"
#include "cli/help/value_kind.h"
#include "cli/options/contexts.h"

namespace blip::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<OptionFact> shown_options() {
  std::vector<OptionFact> options;
  for (const OptionFact& fact : option_table())
    if (fact.id != OptionId::kLater) options.push_back(fact);
  return options;
}

// The manual with every line break a blank.
std::string manual() {
  std::string man = man_page("2026-01-31");
  std::replace(man.begin(), man.end(), '\n', ' ');
  return man;
}

TEST(Docs, every_value_has_a_kind) {
  for (const OptionFact& fact : shown_options())
    EXPECT_TRUE(fact.value.empty() || find_value_kind(fact.value)) << fact.long_name << " " << fact.value;
}

TEST(Docs, the_manual_has_every_verb_with_every_example) {
  const std::string man = manual();
  for (const VerbFact& verb : verb_table()) {
    EXPECT_THAT(man, HasSubstr(fmt::format(".SS {} {} ", verb.name, roff_usage(verb.synopsis))));
    for (std::string_view rest = verb.examples; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
      EXPECT_THAT(man, HasSubstr(roff_escaped(rest.substr(0, rest.find('\n')))));
  }
}

TEST(Docs, the_manual_has_every_option_with_its_help) {
  const std::string man = manual();
  for (const OptionFact& fact : shown_options()) {
    EXPECT_THAT(man, HasSubstr(fmt::format(".TP {}", option_title(fact)))) << fact.long_name;
    EXPECT_THAT(man, HasSubstr(roff_text(fact.help)));
  }
}

// A term that is too long for its line would go on in its own explanation.
TEST(Docs, the_manual_has_every_topic_and_each_term_in_a_line) {
  const std::string man = manual(), lines = man_page("2026-01-31");
  for (const Topic& topic : topics()) {
    EXPECT_THAT(man, HasSubstr(fmt::format(".SH {} ", topic.title)));
    for (const Term& term : topic.terms) {
      EXPECT_THAT(lines, HasSubstr(fmt::format(".TP\n{}\n", roff_usage(term.term))));
      EXPECT_THAT(man, HasSubstr(roff_text(term.text)));
    }
  }
}

TEST(Docs, what_is_not_built_is_not_in_the_manual) {
  const std::string man = manual();
  for (const OptionFact& fact : option_table()) {
    if (fact.id != OptionId::kLater || fact.long_name.empty()) continue;
    EXPECT_THAT(man, Not(HasSubstr(fmt::format(".TP {}", option_title(fact))))) << fact.long_name;
  }
}

TEST(Docs, completions_have_every_verb_and_option) {
  const std::string bash = bash_completion();
  const std::string zsh = zsh_completion();
  const std::string fish = fish_completion();
  for (const VerbFact& verb : verb_table()) {
    EXPECT_THAT(bash, HasSubstr(fmt::format("    {}) echo '", verb.name)));
    EXPECT_THAT(zsh, HasSubstr(fmt::format("    {})\n", verb.name)));
    EXPECT_THAT(fish, HasSubstr(fmt::format("-a {} -d", verb.name)));
  }
  for (const OptionFact& fact : shown_options()) {
    const std::string word = fmt::format("--{}", fact.long_name);
    EXPECT_THAT(bash, HasSubstr(word)) << word;
    EXPECT_THAT(zsh, HasSubstr(word)) << word;
    EXPECT_THAT(fish, HasSubstr(fmt::format(" -l {} ", fact.long_name))) << word;
    for (char letter : fact.short_names) EXPECT_THAT(fish, HasSubstr(fmt::format(" -s {} ", letter)));
  }
}

TEST(Docs, completions_have_every_context) {
  for (const std::string& text : {bash_completion(), zsh_completion(), fish_completion()}) {
    for (std::string_view name : plain_contexts())
      EXPECT_THAT(text, testing::ContainsRegex(fmt::format("[' ]{} ", name)));
    for (std::string_view name : register_names()) EXPECT_THAT(text, HasSubstr(fmt::format(":{}", name)));
  }
}

TEST(Docs, the_manual_has_every_context) {
  const std::string man = manual();
  for (std::string_view name : plain_contexts())
    EXPECT_THAT(man, testing::ContainsRegex(fmt::format("[ (,]{}[ ),.]", name))) << name;
}

TEST(Docs, operands_come_from_the_synopsis) {
  EXPECT_EQ(operands_of(verb_fact(Verb::kView)).first, ValueKind::kDirectory);
  EXPECT_FALSE(operands_of(verb_fact(Verb::kRecord)).first);
  const VerbFact verb{Verb::kNone, "x", "blip x PROBES... (-p PID | -- CMD ARGS...)", "", "", ""};
  EXPECT_TRUE(operands_of(verb).command);
}

TEST(Roff, nothing_is_a_request_or_an_escape) {
  EXPECT_EQ(roff_escaped(".x 'a' \\n `-v`"), "\\&.x \\(aqa\\(aq \\en \\(ga\\-v\\(ga");
  EXPECT_EQ(roff_escaped("a\n.b"), "a\n\\&.b");
}

TEST(Roff, fonts) {
  EXPECT_EQ(roff_text("use `-v` now"), "use \\fB\\-v\\fR now");
  EXPECT_EQ(roff_usage("blip view [DIR]"), "\\fBblip\\fR \\fBview\\fR [\\fIDIR\\fR]");
  EXPECT_EQ(roff_usage("-o DIR..."), "\\fB\\-o\\fR \\fIDIR\\fR\\&...");
  EXPECT_EQ(roff_paragraphs("a\n\nb"), "a\n.PP\nb\n");
}

TEST(Completion, a_menu_has_short_texts_without_quotes) {
  EXPECT_EQ(menu_text("end after TIME: 10s, 500ms"), "end after TIME");
  EXPECT_EQ(menu_text("blip's 'x' [y]"), "blips x y");
}

}  // namespace
}  // namespace blip::cli
