// SPDX-License-Identifier: MIT
// What `blip list --coverage` prints: a row per way to patch an instruction, then the reasons of refusal,
//
//   STEP             INSTRUCTIONS    SHARE
//   nop5                     1204   0.08 %
//   ...
//   jump                  1459012  99.93 %
//   refused                   988   0.07 %
//     a call leads into it    700
//
// With details the refused instructions come first. As JSON: those, one object each, then one with all
// numbers.
#pragma once

#include <string>

#include "session/list/coverage.h"

namespace blip::cli {

std::string coverage_table(const session::InstructionCoverage& coverage, bool color);
std::string coverage_json(const session::InstructionCoverage& coverage);

// "N instructions of M functions: J can be probed by a jump (99.93 %), R refused": scripts parse it.
std::string coverage_summary(const session::InstructionCoverage& coverage);

}  // namespace blip::cli
