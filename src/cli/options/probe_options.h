// SPDX-License-Identifier: MIT
// --function, --probe, --line, --mark, --every-instruction: which probe the words of an option ask for.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "session/plan/options.h"

namespace blip::cli {

// The value of one of the options that make a probe.
Result<session::ProbeRequest> parse_probe(OptionId option, const std::string& value);

}  // namespace blip::cli
