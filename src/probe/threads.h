// SPDX-License-Identifier: MIT
// Where the threads of a stopped target stand with respect to patches and pads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/pads.h"
#include "probe/region.h"
#include "proc/attachment.h"
#include "proc/memory.h"

namespace blip::probe {

// Patches sorted by address, found by the addresses inside their windows.
class PatchIndex {
 public:
  explicit PatchIndex(std::span<const Patch> sorted) : patches_(sorted) {}

  // The patch with addr < a < addr + window: a thread there would run half a jump.
  const Patch* inside_window(TargetAddr a) const;
  std::span<const Patch> patches() const { return patches_; }

 private:
  std::span<const Patch> patches_;
};

// Before installing: moves every thread that stands inside a window to the same instruction's copy in the
// pad. Returns the patches that cannot be installed now, because a thread or a signal frame is inside and
// cannot be moved; if there are any, no thread is moved unless `move_if_blocked`.
Result<std::vector<const Patch*>> move_into_pads(proc::Attachment& attachment, const proc::Memory& memory,
                                                 std::span<const proc::Map> maps, const PatchIndex& index,
                                                 bool move_if_blocked);

// After restoring: moves threads from the entry of a pad, or from the copy of an instruction, back to the
// original.
Status move_out_of_pads(proc::Attachment& attachment, const Footprint& footprint,
                        std::span<const Patch> patches);

// The first thread that is, or will return from a signal handler, into the pads; none: they can go.
Result<std::optional<pid_t>> find_inside(proc::Attachment& attachment, const proc::Memory& memory,
                                         std::span<const proc::Map> maps, const Footprint& footprint);

// A finished pad leaves the thread's rseq_cs at its descriptor; the kernel follows it at the next preemption,
// so it must go before the descriptor does.
Status forget_descriptors(proc::Attachment& attachment, proc::Memory& memory, const Footprint& footprint);

}  // namespace blip::probe
