// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "session/process/event_source.h"
#include "session/process/pad_source.h"
#include "session/process/summary.h"
#include "session/process/uprobe_source.h"

namespace blip::session {

// A process and what blip puts into it: pads and rings, or breakpoints of the kernel, and the drain of their
// events. It knows nothing of the trace they are for. Once it is armed, the destructor restores the process, and
// the children that forks gave a copy of the pads.
class TargetProcess {
 public:
  static Result<std::unique_ptr<TargetProcess>> open(proc::Process process);
  ~TargetProcess();

  const proc::Process& process() const { return process_; }
  proc::Memory& memory() { return memory_; }
  const proc::Memory& memory() const { return memory_; }

  struct Pads {
    std::span<const probe::Module> modules;
    probe::ModuleSites sites;
    std::vector<probe::Probe> probes;
    probe::ArmOptions options;
  };
  // One of the two, once. On an error nothing is left in the process.
  Status arm_pads(Pads pads, const DrainInput& input);
  // `ring_size`: see UprobeSource.
  Status arm_uprobes(std::vector<UprobeSource::Probe> probes, uint64_t ring_size, const DrainInput& input);

  // What follows needs it armed.
  EventSource& source() { return *source_; }
  const EventSource& source() const { return *source_; }
  // Null if there are none.
  probe::Instrumentation* pads() const { return pads_ ? &pads_->instrumentation() : nullptr; }

  // True once the process has ended or called exec, which leaves the memory we knew. left() does not look again.
  bool has_left();
  bool left() const { return left_.has_value(); }
  // Whether the process, and every child that shares its memory, has ended or called exec; kTargetExec if the
  // process itself did. Cheap while the process lives.
  std::optional<End> gone();
  // Something to poll(2) that becomes readable when a process ends: negative if there is nothing.
  int poll_fd() const;

  // Restores the process and its children. False: a thread is inside a probe, and the memory stays.
  bool disarm(Summary& summary);

 private:
  TargetProcess(proc::Process process, proc::Memory memory)
      : process_(std::move(process)), memory_(std::move(memory)) {}

  proc::Process process_;
  proc::Memory memory_;
  std::unique_ptr<EventSource> source_;
  PadSource* pads_ = nullptr;  // the source, if it is one
  std::optional<End> left_;    // the process itself has gone
  bool disarmed_ = false;
};

}  // namespace blip::session
