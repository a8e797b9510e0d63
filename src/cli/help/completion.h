// SPDX-License-Identifier: MIT
// Completion for three shells, made from the tables that make --help: verbs, options, contexts, colours, own
// processes for -p and -n, directories, files, and the command after --.
#pragma once

#include <string>
#include <vector>

#include "cli/options/option_table.h"

namespace blip::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

// `text` up to the first full stop or colon, without a quote that would end a shell's string: what fits
// beside an option in a menu.
std::string menu_text(std::string_view text);
// "-p", "-x", "--pid".
std::vector<std::string> spellings(const OptionFact& fact);
// True if an option that is given twice means both values.
bool is_repeatable(const OptionFact& fact);

}  // namespace blip::cli
