// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "probe/patch/patches.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::probe {

// Takes a trace's patches out of the text, in as many stops as it takes, and the threads off the bytes that
// change. All of it outlives this.
class TextRemoval {
 public:
  // `retired` patches, a table for each, need not be there any more.
  TextRemoval(proc::Memory& memory, const Footprint& footprint, const PatchTable& table,
              std::span<const PatchTable> retired);

  // Takes threads off springboards. Those that somebody will go back to have to stay. `parks`: fibers may
  // stand there, and are looked for in memory.
  Status leave_springboards(StoppedCode& code, bool parks, const TimeIsUp& time_is_up);
  // What is in the text after one stop.
  struct Outcome {
    size_t undone = 0;      // edits that time was too short for
    size_t foreign = 0;     // places that hold other bytes than ours and were not touched
    bool may_jump = false;  // another tool may put one of blip's jumps back
    bool is_held = false;   // a springboard had to stay
  };
  // All edits but those, until time is up. Afterwards: only hooks are left.
  Result<Outcome> restore(const TimeIsUp& time_is_up);
  // What leads the target's rt_sigaction to blip stays as long as blip's handler: else the target could ask
  // for its action, be told of blip's, and put that back when it is gone.
  Status restore_hooks();

  // Threads at the beginning of a pad, or at an instruction's copy, go back to the original.
  Status move_threads_out(proc::Attachment& attachment) const;
  // A thread that has run into an int3 that is there no more. The handler still works: it goes on.
  std::optional<pid_t> find_trapped(proc::Attachment& attachment) const;

 private:
  using Springboards = std::vector<TargetAddr>;

  Result<Springboards> restore_retired(StoppedCode& code);
  Status hold_parked(std::span<const proc::Map> maps, Springboards& held, const TimeIsUp& time_is_up) const;
  EditMask hooks() const;
  EditMask all_but(const Springboards& springboards) const;
  bool still_jumps(std::span<const size_t> foreign) const;

  proc::Memory& memory_;
  const Footprint& footprint_;
  const PatchTable& table_;
  const EditMask active_;
  const PatchIndex index_;
  const std::span<const PatchTable> retired_;
  std::vector<PatchIndex> retired_index_;
  std::optional<Springboards> held_;  // springboards that are still in the text; none: all
};

}  // namespace blip::probe
