// SPDX-License-Identifier: MIT
// What `blip list` prints: one line per function,
//
//   ADDRESS         SIZE  PATCH    MODULE  NAME
//   0x55d0c1a2b1b0   132  window   server  parse_request
//   0x55d0c1a2b240     3  refused  server  is_ready  # the function is shorter than the jump
//
// or one JSON object. The first four columns hold no blanks; a name may.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/list/listing.h"

namespace blip::cli {

struct ListStyle {
  bool header = false;
  bool color = false;
  bool details = false;  // modules first, as lines that begin with '#'; source lines, mangled names, aliases
};

std::string list_table(const session::Listing& listing, const ListStyle& style);
std::string list_json(const session::Listing& listing, bool details);

// "nop5", "insn", "window", ..., "refused".
std::string_view step_name(session::PatchStep step);
// All but "refused", in the order of the ladder.
std::vector<session::PatchStep> all_steps();

// "N functions, M can be probed, R refused": scripts parse it. Where there are inlined copies,
// "N functions and C inlined copies, ...": M and R count both.
std::string list_summary(const session::Listing& listing);

}  // namespace blip::cli
