// SPDX-License-Identifier: MIT
#pragma once

#include "session/plan/options.h"
#include "x86/stay_ahead.h"

namespace blip::session {

// Returns the parts of the state that the request shows, stores or decides upon at the entry of a function.
x86::Shown shown_at_entry(const ProbeRequest& request);

}  // namespace blip::session
