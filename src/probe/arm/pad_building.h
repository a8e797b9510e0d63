// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "base/result.h"
#include "probe/arm/batch.h"
#include "probe/arm/trace_parts.h"
#include "probe/code/module.h"
#include "probe/patch/patches.h"

namespace blip::probe {

// Fills the newest room for pads with what the batch is about, and the site table with the places. The text is not
// changed yet. What has no pad is refused.
Result<MadePatches> build_pads(TraceParts& trace, const Batch& batch, std::span<const Module> modules);

// A thread in a pad of an earlier trace comes back behind the window of that one: not into the middle of a
// jump. Takes such sites out of the batch.
void refuse_returns(Batch& batch, const KeptMemory& kept);

// What programs do is in their pads now; that they are many is where blip's own memory went.
void give_up_programs(TraceParts& trace);

}  // namespace blip::probe
