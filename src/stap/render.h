// SPDX-License-Identifier: MIT
// Text as SystemTap prints it.
#pragma once

#include <span>
#include <string>

#include "script/blocks/library.h"
#include "stap/format.h"
#include "state/stats.h"

namespace blip::stap {

// Arguments are of the types that the directives want.
std::string render(std::span<const Directive> directives, std::span<const script::Argument> arguments);

// The drawing of @hist_log and @hist_linear; empty if there are no numbers.
std::string draw_histogram(const state::MapType& map, const state::Stats& stats);

}  // namespace blip::stap
