// SPDX-License-Identifier: MIT
// Tells what the requests of the user need, before anything is looked for.
#pragma once

#include "session/plan/options.h"

namespace blip::session {

// True if events show some of the program's data, or depend on it.
bool asks_for_data(const ProbeRequest& request);
bool asks_for_stack(const ProbeRequest& request);
bool shows_data(const ProbeRequest& request);
// True for returns that ask for what was at the entry of the call.
bool asks_for_entry(const ProbeRequest& request);
bool asks_for_returns(const ProbeRequest& request);
bool asks_for_marks(const ProbeRequest& request);

// True if any request of the trace does.
bool any_asks(const Options& options, bool (*asks)(const ProbeRequest&));
// True if a hit has to find out which thread it is of.
bool asks_for_threads(const Options& options);
// True if hits walk up the stack.
bool walks_stacks(const Options& options);

}  // namespace blip::session
