// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "abi/layout.h"
#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/arm/arm_options.h"
#include "probe/arm/trace_memory.h"
#include "probe/arm/watched_calls.h"
#include "probe/code/module.h"
#include "probe/inject/thread_facts.h"
#include "probe/patch/trace_probes.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// What the pads of a trace are made for: facts about the target's threads, what the user has asked for, and
// what follows from both for the gate.
class PadFacts {
 public:
  PadFacts(const ArmOptions& options, const TraceProbes& probes, const WatchedCalls& calls,
           const TraceMemory& memory)
      : options_(options), probes_(probes), calls_(calls), memory_(memory) {}

  // The clock of CLOCK_MONOTONIC, if records are to carry that. True: they are.
  Result<bool> find_clock(const proc::Process& process, proc::Memory& memory,
                          std::span<const Module> modules);
  bool uses_vdso_clock() const { return clock_ && clock_->clock_gettime != TargetAddr(); }
  // Records carry a time, also that of the vDSO's clock, which reads the TSC; those of who only counts do not.
  bool uses_tsc() const { return memory_.geometry().slot_size != 0 || options_.returns; }

  const ThreadFacts& threads() const { return threads_; }
  void set_threads(const ThreadFacts& facts) { threads_ = facts; }
  // Every hit uses the shared ring then.
  void give_up_rseq() { threads_.rseq.reset(); }
  // Threads write into rings of CPUs.
  bool has_own_rings() const { return threads_.rseq && !clock_; }

  // Threads remember calls that return.
  bool has_shadow() const { return options_.returns; }
  uint64_t shadow_size() const;
  // Room to remember one semaphore for each probe, if there may be static marks.
  uint32_t semaphore_size() const;
  // For the thread's id, to read memory, or to wait for blip. A system call that nobody wants might displease
  // a filter that comes later.
  bool asks_kernel() const { return memory_.geometry().ranges || options_.births || probes_.ask_kernel(); }
  bool forbids_calls() const { return !asks_kernel() || !calls_.no_calls().empty(); }
  jit::Environment environment() const;

  // What children of forks find when their gate page is wiped.
  uint32_t unannounced_gate() const;
  abi::GatePage gate_page(uint32_t gate, pid_t pid) const;
  uint32_t filtered() const;

 private:
  // Those of the options that matter here.
  struct Options {
    explicit Options(const ArmOptions& o)
        : follow_fork(o.follow_fork),
          monotonic_clock(o.monotonic_clock),
          returns(o.returns),
          keeps_values(o.keeps_values),
          marks(o.marks),
          births(o.births) {}
    bool follow_fork, monotonic_clock, returns, keeps_values, marks;
    std::optional<jit::Births> births;
  };

  const Options options_;
  const TraceProbes& probes_;
  const WatchedCalls& calls_;
  const TraceMemory& memory_;
  ThreadFacts threads_;
  std::optional<jit::MonotonicClock> clock_;  // none: the TSC
};

}  // namespace blip::probe
