// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "cli/options/option_table.h"

namespace blip::cli {

inline constexpr char kVersion[] = BLIP_VERSION;

// `blip --help`: what blip does, by example. `blip VERB --help`: the verb's examples and options.
std::string general_help();
std::string verb_help(Verb verb);  // two screens at most
// All about the options of a name, whichever verbs they are of; empty: there is none.
std::string option_help(std::string_view long_name);

}  // namespace blip::cli
