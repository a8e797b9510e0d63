// SPDX-License-Identifier: MIT
// Interrupted code that no thread will go back to for now: fibers that a signal handler has switched away
// from. See docs/design/leaving.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/code/module.h"
#include "probe/inject/parking.h"
#include "probe/inject/signal_frames.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::probe {

Parking parking_of(std::span<const Module> modules);

// True if memory has to be searched: the program switches stacks, or a thread stands on one that is not its
// own.
bool may_park_code(Parking parking, proc::Attachment& attachment, const proc::Memory& memory,
                   std::span<const proc::Map> maps);

struct ParkedCode {
  std::vector<InterruptedCode> found;
  // There is more memory than can be searched while a process stands still (in the time there is), and the
  // program has asked for timers, by which fibers may be switched at any instruction.
  bool unknown = false;
};

// The saved registers anywhere in writable memory whose pc is in one of `places` (sorted, disjoint). What
// was left behind on a stack and is nobody's any more counts, too: nobody can tell it from the others.
Result<ParkedCode> find_parked_code(const proc::Memory& memory, std::span<const proc::Map> maps,
                                    std::span<const AddrRange> places,
                                    const std::function<bool()>& time_is_up = {});

}  // namespace blip::probe
