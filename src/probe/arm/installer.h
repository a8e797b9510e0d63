// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/arm/trace_parts.h"
#include "probe/inject/signal_frames.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"

namespace blip::probe {

// Puts the fresh patches of a trace into the text, in one stop of all threads, unless somebody is in the way
// or no pause may be long. What cannot be patched is refused.
class Installer {
 public:
  // `mapped`: what the fresh patches were planned for, if it may go. If something else is there at the stop,
  // nothing is changed, and it is an error (kNotFound). `rebuild` makes all pads again.
  Installer(TraceParts& trace, std::span<const proc::Map> mapped, std::function<Status()> rebuild)
      : trace_(trace), mapped_(mapped), rebuild_(std::move(rebuild)) {}

  Status run();

 private:
  // What one stop has come to.
  enum class Patched {
    kAll,
    kBlocked,  // a thread, or a call it is about to make, was in the way
    kSome,     // time was up; perhaps nothing was written at all
  };

  Result<Patched> patch(bool last_try);
  Result<Patched> patch_stopped(proc::Attachment& attachment, PatchIndex index, bool last_try);
  Result<bool> check_facts(proc::Attachment& attachment);
  Status check_alone(std::span<const proc::Map> maps) const;
  Status check_mapped(const std::vector<proc::Map>& maps);
  Result<bool> is_blocked(StoppedCode& code, const std::vector<proc::Map>& maps,
                          std::span<const InterruptedCode> interrupted, bool last_try);
  Result<bool> move_threads(proc::Attachment& attachment, std::span<const InterruptedCode> interrupted,
                            const PatchIndex& index, bool last_try);
  Status open_gate(proc::Attachment& attachment, const std::vector<proc::Map>& maps);
  Status write_gate();
  Result<Patched> install(proc::Attachment& attachment);
  Status raise_semaphores(std::span<const proc::Map> maps);
  Result<bool> write_edits(const EditMask& which, proc::Attachment& attachment);
  Status give_up_for_pause(int tries);
  std::vector<size_t> switch_incomplete_off();
  void switch_on(std::span<const size_t> probes);
  void switch_off_broken_groups();
  Status drop(const std::vector<const Patch*>& blocked, const std::string& reason);
  Status drop_parked(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                     const PatchIndex& index);
  Status drop(const TextReport& text);
  Status drop(const EditMask& edits, const std::function<std::string(size_t edit)>& reason);
  std::string why_foreign(const Edit& edit) const;
  bool is_limited() const { return trace_.stops.max_pause().has_value(); }

  TraceParts& trace_;
  const std::span<const proc::Map> mapped_;
  const std::function<Status()> rebuild_;
};

}  // namespace blip::probe
