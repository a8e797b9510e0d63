// SPDX-License-Identifier: MIT
#include "cli/options/shell_words.h"

#include <fmt/format.h>

#include <optional>

#include "cli/options/usage_error.h"

namespace blip::cli {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kShellsOwn = "|&;<>()$`*?[";
constexpr std::string_view kEscapedInDoubleQuotes = "$`\"\\";

class Splitter {
 public:
  explicit Splitter(std::string_view line) : rest_(line) {}

  Result<std::vector<std::string>> run() {
    while (!rest_.empty()) TRY_OK(take_one(next()));
    end_word();
    if (words_.empty()) return usage("the command is empty");
    return std::move(words_);
  }

 private:
  char next() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  Status take_one(char c) {
    if (kBlanks.find(c) != std::string_view::npos) {
      end_word();
      return {};
    }
    if (c == '\'') return take_single_quotes();
    if (c == '"') return take_double_quotes();
    if (c == '\\') return take_escaped();
    const bool at_start = !word_;
    if (kShellsOwn.find(c) != std::string_view::npos || (at_start && (c == '~' || c == '#')))
      return usage(
          fmt::format("'{}' needs a shell, and none is run: quote it, or say -- sh -c '...' (its children "
                      "are traced too)",
                      c));
    append(c);
    return {};
  }

  Status take_single_quotes() {
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos)
      return usage("a ' is not closed: add the second one, or write \\' where none is meant");
    append(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return {};
  }

  Status take_double_quotes() {
    append("");
    while (!rest_.empty()) {
      const char c = next();
      if (c == '"') return {};
      if (c == '$' || c == '`')
        return usage(fmt::format("'{}' needs a shell, and none is run: quote it with '...'", c));
      const bool escape =
          c == '\\' && !rest_.empty() &&
          (kEscapedInDoubleQuotes.find(rest_[0]) != std::string_view::npos || rest_[0] == '\n');
      if (!escape) {
        append(c);
      } else if (const char escaped = next(); escaped != '\n') {
        append(escaped);
      }
    }
    return usage("a \" is not closed: add the second one, or write \\\" where none is meant");
  }

  Status take_escaped() {
    if (rest_.empty()) return usage("nothing follows the \\ at the end");
    if (const char c = next(); c != '\n') append(c);
    return {};
  }

  void append(char c) { append(std::string_view(&c, 1)); }
  void append(std::string_view text) {
    if (!word_) word_.emplace();
    *word_ += text;
  }
  void end_word() {
    if (word_) words_.push_back(*std::move(word_));
    word_.reset();
  }

  std::string_view rest_;
  std::optional<std::string> word_;  // set: a word has begun, even an empty one
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view line) { return Splitter(line).run(); }

}  // namespace blip::cli
