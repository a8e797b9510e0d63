// SPDX-License-Identifier: MIT
// The manual says this beside verbs and options. Text is plain; `words in backquotes` are typed as they
// stand.
#pragma once

#include <span>
#include <string_view>

namespace blip::cli {

struct Term {
  std::string_view term;
  std::string_view text;
};

struct Topic {
  std::string_view title;
  std::string_view text;        // paragraphs, separated by an empty line
  std::span<const Term> terms;  // after the text
};

std::string_view one_line_description();
std::string_view description();
// Stands before the commands.
const Topic& first_topic();
// In the order of a manual page, after the options.
std::span<const Topic> topics();

}  // namespace blip::cli
