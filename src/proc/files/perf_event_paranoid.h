// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace blip::proc {

// The setting of that name, without the end of its line; "?" if it cannot be read.
std::string perf_event_paranoid();

}  // namespace blip::proc
