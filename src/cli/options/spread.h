// SPDX-License-Identifier: MIT
// Options that only the last of several probes has. `--function a --function b --context tid` means both.
#pragma once

#include <string>
#include <vector>

#include "session/plan/options.h"

namespace blip::cli {

// Which options were given before the first probe: they hold for all, and the last one is nothing special.
struct GivenFirst {
  bool contexts = false;
  bool args = false;
  bool locals = false;
  bool captures = false;
  bool filter = false;
};

// Gives all probes the contexts, --args and --locals that only the last of them has, each option for itself.
// A backtrace stays, because it costs a hundred times more than the rest; so does what names variables of one
// function, --filter and --capture. Returns what the user must be told.
std::vector<std::string> spread_from_last(std::vector<session::ProbeRequest>& probes,
                                          const GivenFirst& first);

}  // namespace blip::cli
