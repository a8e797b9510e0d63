// SPDX-License-Identifier: MIT
// The command line needs to know this of filters.
#pragma once

#include <string_view>

namespace blip::session {

// True if it looks at what only returns have: ret, $return, latency_ns, depth, tail, entry(...).
bool is_about_returns(std::string_view filter);

}  // namespace blip::session
