// SPDX-License-Identifier: MIT
// Who is in a piece of code, or will come back to it, while all threads of a process stand still. Arming asks
// so before it changes bytes, removal before it takes them away; memory of pads may be used again only if the
// answer is nobody, in every process that has it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/inject/signal_frames.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::probe {

// A place where code will go on.
struct Standing {
  TargetAddr pc;
  TargetAddr sp;
  TargetAddr goes_on;    // pc, or the system call that will be made again
  bool returns = false;  // from a signal handler, who knows when; else a thread is there
};

// Where all code of a stopped process will go on. The signal frames of a thread are searched for once, when
// somebody asks: as long as nobody runs they stay where they are. All of it outlives this.
class StoppedCode {
 public:
  StoppedCode(proc::Attachment& attachment, const proc::Memory& memory, std::span<const proc::Map> maps);

  proc::Attachment& attachment() const { return attachment_; }
  const proc::Memory& memory() const { return memory_; }
  std::span<const proc::Map> maps() const { return maps_; }
  Standing thread(size_t i) const;
  // Where signal handlers of a thread will return to. Also where no signal is caught now: a handler may have
  // taken itself away (SA_RESETHAND) and still run. An error: they may be anywhere.
  const Result<std::vector<InterruptedCode>>& interrupted(size_t i);
  // The same of all threads.
  Result<std::vector<InterruptedCode>> interrupted();

 private:
  proc::Attachment& attachment_;
  const proc::Memory& memory_;
  std::span<const proc::Map> maps_;
  SignalFrames frames_;
  std::vector<Result<std::vector<InterruptedCode>>> found_;  // of the first threads
};

struct Inside {
  pid_t tid = 0;
  bool returns = false;  // see Standing; or its stack cannot be searched
};

using CodePlaces = std::function<bool(const Standing&)>;
// Pads, and the vDSO's clock where a pad has called it. All of it must outlive the places.
CodePlaces pads_of(const Footprint& footprint, const StoppedCode& code);

// The first thread in one of the places, or else the first that will come back to one; none: nobody is.
std::optional<Inside> who_is_inside(StoppedCode& code, const CodePlaces& places);
// Whether interrupted code that no thread goes back to for now (find_parked_code) is in one of them.
bool any_inside(std::span<const InterruptedCode> parked, const CodePlaces& places);

}  // namespace blip::probe
