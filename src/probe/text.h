// SPDX-License-Identifier: MIT
// Writing jumps into a stopped target's text and taking them out again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "probe/pads.h"
#include "proc/memory.h"

namespace blip::probe {

enum class Direction { kInstall, kRestore };

// Writes the jumps (or the original bytes) of all `patches`, which must be sorted by address: one write per
// page, so every moment is a valid state of the target. A patch whose site does not hold what is expected
// (the original when installing, our jump when restoring), or is not mapped any more, is left alone; returns
// the indices of those.
Result<std::vector<size_t>> write_text(proc::Memory& memory, std::span<const Patch> patches,
                                       Direction direction);

}  // namespace blip::probe
