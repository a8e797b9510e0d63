// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "proc/files/maps.h"
#include "x86/trampoline_space.h"

namespace blip::session {

// Returns where trampolines may be put in a process: in so many pages that it keeps most of the mappings it
// may have, and where the pads of so many probes, which count or record, still find room.
x86::TrampolineSpace room_for_trampolines(std::span<const proc::Map> maps, size_t probes, bool counting);

}  // namespace blip::session
