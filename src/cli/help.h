// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/option_table.h"

namespace blip::cli {

inline constexpr char kVersion[] = BLIP_VERSION;

// `blip --help`: what blip does, by example. `blip VERB --help`: the verb's examples and options.
std::string general_help();
std::string verb_help(Verb verb);

}  // namespace blip::cli
