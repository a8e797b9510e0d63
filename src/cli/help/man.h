// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/options/option_table.h"

namespace blip::cli {

// The manual page blip(1), in the man macros of roff, from the tables that make --help. `date` as the footer
// shows it: "2026-01-31".
std::string man_page(const std::string& date);

// "-p, -x, --pid PID", with fonts.
std::string option_title(const OptionFact& fact);

}  // namespace blip::cli
