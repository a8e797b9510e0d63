// SPDX-License-Identifier: MIT
// Written by hand rather than with a library, because the order of options carries meaning: a context belongs
// to the probe before it.
#include "cli/options/options.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/options/command_builder.h"
#include "cli/options/suggest.h"
#include "cli/options/usage_error.h"

namespace blip::cli {
namespace {

// That have an option of the name.
std::string verbs_of(const OptionFact& fact) {
  unsigned verbs = 0;
  for (const OptionFact& other : option_table())
    if (other.long_name == fact.long_name) verbs |= other.verbs;
  std::string names;
  for (const VerbFact& verb : verb_table())
    if (verbs & verb_bit(verb.verb)) names += fmt::format("{}{}", names.empty() ? "" : ", ", verb.name);
  return names;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& args) : args_(args) {}
  Result<Command> parse();

 private:
  Result<Command> parse_without_verb(const std::string& word);
  Result<Command> parse_help();
  Status parse_word(const std::string& word);
  Status parse_long(std::string_view word);
  Status parse_short_bundle(std::string_view letters);
  Result<std::string> value_of(const OptionFact& fact, std::string_view shown,
                               std::optional<std::string_view> attached);
  Status check_available(const OptionFact& fact, std::string_view shown) const;
  Error unknown_option(std::string_view shown) const;
  std::string help_hint() const { return fmt::format("blip {} --help", verb_->name); }

  const std::vector<std::string>& args_;
  size_t next_ = 0;
  bool only_operands_ = false;
  const VerbFact* verb_ = nullptr;
  std::optional<CommandBuilder> builder_;
};

Result<Command> Parser::parse() {
  if (args_.empty())
    return usage(
        "say what to do: trace, record, count, run, list, view or clean (blip --help shows examples)");
  const std::string& first = args_[next_++];
  verb_ = find_verb(first);
  if (!verb_) return parse_without_verb(first);
  builder_.emplace(*verb_);
  while (next_ < args_.size() && !builder_->wants_help()) {
    const std::string& word = args_[next_++];
    TRY_OK(parse_word(word));
  }
  return builder_->finish(args_);
}

Result<Command> Parser::parse_without_verb(const std::string& word) {
  if (word == "--help" || word == "-h") return Command{.help = true};
  if (word == "help") return parse_help();
  if (word == "--version" || word == "-V") return Command{.version = true};
  if (word.starts_with("-"))
    return usage(fmt::format("'{}': say first what to do, as in blip trace {}", word, word));
  std::vector<std::string_view> names;
  for (const VerbFact& fact : verb_table()) names.push_back(fact.name);
  const std::string_view meant = nearest(word, names);
  if (!meant.empty())
    return usage(fmt::format("unknown verb '{}': did you mean {}? (blip --help)", word, meant));
  return usage(
      fmt::format("unknown verb '{}': use {} (blip --help shows examples)", word, fmt::join(names, ", ")));
}

// blip help [VERB | --OPTION]
Result<Command> Parser::parse_help() {
  if (next_ == args_.size()) return Command{.help = true};
  const std::string& word = args_[next_++];
  if (next_ < args_.size())
    return usage(fmt::format("unexpected '{}': blip help takes one verb or one option", args_[next_]));
  if (const VerbFact* verb = find_verb(word)) return Command{.verb = verb->verb, .help = true};
  const OptionFact* option = word.starts_with("--") ? find_long_option(word.substr(2), Verb::kNone) : nullptr;
  if (option && option->id != OptionId::kLater) return Command{.help = true, .help_option = word.substr(2)};
  if (word.starts_with("-"))
    return usage(fmt::format("unknown option {}: blip help VERB lists the options", word));
  return parse_without_verb(word);
}

Status Parser::parse_word(const std::string& word) {
  if (only_operands_ || word.size() < 2 || word[0] != '-') return builder_->add_operand(word);
  if (word == "--") {
    if (!takes_command(verb_->verb)) {
      only_operands_ = true;
      return {};
    }
    std::vector<std::string> words(args_.begin() + static_cast<ptrdiff_t>(next_), args_.end());
    next_ = args_.size();
    if (words.empty() || words[0].empty()) return usage("--: no command follows, as in -- ls -l");
    return builder_->set_command(std::move(words), "--");
  }
  if (word.starts_with("--")) return parse_long(std::string_view(word).substr(2));
  return parse_short_bundle(std::string_view(word).substr(1));
}

Status Parser::parse_long(std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const OptionFact* fact = find_long_option(name, verb_->verb);
  const std::string shown = fmt::format("--{}", name);
  if (!fact) return unknown_option(shown);
  TRY_OK(check_available(*fact, shown));
  std::optional<std::string_view> attached;
  if (equals != std::string_view::npos) attached = word.substr(equals + 1);
  if (attached && fact->value.empty()) return usage(fmt::format("{} takes no value", shown));
  TRY(const std::string value, value_of(*fact, shown, attached));
  return builder_->apply(*fact, value);
}

// -v, -qv, -p4711, -vp 4711.
Status Parser::parse_short_bundle(std::string_view letters) {
  while (!letters.empty()) {
    const char letter = letters[0];
    letters.remove_prefix(1);
    const OptionFact* fact = find_short_option(letter, verb_->verb);
    const std::string shown = fmt::format("-{}", letter);
    if (!fact) return unknown_option(shown);
    TRY_OK(check_available(*fact, shown));
    std::optional<std::string_view> attached;
    if (!fact->value.empty() && !letters.empty()) attached = std::exchange(letters, {});
    TRY(const std::string value, value_of(*fact, shown, attached));
    TRY_OK(builder_->apply(*fact, value));
  }
  return {};
}

Result<std::string> Parser::value_of(const OptionFact& fact, std::string_view shown,
                                     std::optional<std::string_view> attached) {
  if (fact.value.empty()) return std::string();
  if (attached) return std::string(*attached);
  if (next_ < args_.size()) return args_[next_++];
  return usage(fmt::format("{} needs a value: {} {} ({})", shown, shown, fact.value, help_hint()));
}

Status Parser::check_available(const OptionFact& fact, std::string_view shown) const {
  if (fact.id == OptionId::kLater) return usage(fmt::format("{} is not available in this version", shown));
  if (fact.verbs & verb_bit(verb_->verb)) return {};
  const std::string others = verbs_of(fact);
  if (others.empty()) return unknown_option(shown);
  return usage(fmt::format("{} is not an option of blip {}, only of {}", shown, verb_->name, others));
}

Error Parser::unknown_option(std::string_view shown) const {
  std::vector<std::string_view> names;
  for (const OptionFact& fact : option_table())
    if (fact.verbs & verb_bit(verb_->verb)) names.push_back(fact.long_name);
  const bool is_long = shown.starts_with("--");
  const std::string_view meant = is_long ? nearest(shown.substr(2), names) : std::string_view();
  if (meant.empty()) return usage(fmt::format("unknown option {}: {} lists the options", shown, help_hint()));
  return usage(fmt::format("unknown option {}: did you mean --{}? ({})", shown, meant, help_hint()));
}

}  // namespace

Result<Command> parse_command(const std::vector<std::string>& args) { return Parser(args).parse(); }

}  // namespace blip::cli
