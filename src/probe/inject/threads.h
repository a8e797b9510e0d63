// SPDX-License-Identifier: MIT
// Where the threads of a stopped target stand with respect to patches and pads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/inject/signal_frames.h"
#include "probe/inject/who_is_inside.h"
#include "probe/patch/patches.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"

namespace blip::probe {

// Finds the active patches of a table, or only the fresh ones among them, by the addresses of code. The table
// must outlive it and keep its order.
class PatchIndex {
 public:
  enum class Only { kActive, kFresh };
  explicit PatchIndex(const PatchTable& table, Only only = Only::kActive);

  // The patch that a thread at `a` would meet half a jump of: inside the window behind its first byte, or in
  // the springboard's bytes.
  const Patch* disturbed_at(TargetAddr a) const;
  // A thread at `a` may have executed the int3 before it and not have been told yet.
  bool behind_trap(TargetAddr a) const;
  // Where disturbed_at() finds a patch, sorted.
  std::vector<AddrRange> disturbed_places() const;
  bool has_springboards() const { return !springboards_.empty(); }
  std::vector<TargetAddr> springboards() const;
  // The patch whose springboard begins at `a`.
  const Patch* springboard_at(TargetAddr a) const;
  // Where a thread goes on in the original code that stands between site and pad, or in the pad, at a place
  // that corresponds to one.
  std::optional<TargetAddr> original_of(TargetAddr pc) const;

 private:
  using Places = std::vector<std::pair<TargetAddr, uint32_t>>;  // sorted; index of the patch

  bool counts(const Patch& patch) const { return patch.active && (patch.fresh || only_ != Only::kFresh); }
  static const Patch* find(const Places& places, std::span<const Patch> patches, TargetAddr a);
  const Patch* last_before(TargetAddr a) const;

  std::span<const Patch> patches_;
  Only only_;
  Places pads_;
  Places entries_;
  Places springboards_;
};

// Before installing: moves every thread that stands inside a window to the same instruction's copy in the
// pad. Returns the patches that cannot be installed now, because a thread or a signal frame is inside and
// cannot be moved; if there are any, no thread is moved unless `move_if_blocked`.
Result<std::vector<const Patch*>> move_into_pads(proc::Attachment& attachment,
                                                 std::span<const InterruptedCode> interrupted,
                                                 const PatchIndex& index, bool move_if_blocked);

// Before restoring: takes threads from springboards back to their sites. Returns the springboards that
// signal frames will go back to: they have to stay. `only`: those that are still there; where another was,
// threads run the original code.
Result<std::vector<TargetAddr>> leave_springboards(StoppedCode& code, const PatchIndex& index,
                                                   const std::optional<std::vector<TargetAddr>>& only = {});

// After restoring: moves threads from a trampoline, the entry of a pad, or the copy of an instruction, back
// to the original.
Status move_out_of_pads(proc::Attachment& attachment, const Footprint& footprint, const PatchIndex& index);

// A finished pad leaves the thread's rseq_cs at its descriptor; the kernel follows it at the next preemption,
// so it must go before the descriptor does.
Status forget_descriptors(proc::Attachment& attachment, proc::Memory& memory, const Footprint& footprint);

}  // namespace blip::probe
