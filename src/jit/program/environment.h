// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "jit/program/action.h"

namespace blip::jit {

// How the target's threads registered restartable sequences; the same for all of them, or nobody uses them.
struct Rseq {
  int32_t offset = 0;  // of struct rseq from the thread pointer
  uint32_t signature = 0;
};

// Times are CLOCK_MONOTONIC, which restartable sequences cannot read: every record goes to the shared ring.
struct MonotonicClock {
  TargetAddr clock_gettime{};  // of the vDSO, uses general registers only; 0: a system call
};

// Classes of the records by which those who are born tell of it.
struct Births {
  uint32_t channel = 0;
  uint32_t thread_class = 0;
  uint32_t process_class = 0;
};

// Generated code has to know this about the process it will run in, whatever it does there.
struct ProcessEnvironment {
  abi::Geometry geometry;                   // of the home region
  TargetAddr control;                       // the home region; the gate page lies right below it
  std::optional<Rseq> rseq;                 // none: every hit goes to the shared ring
  std::optional<int32_t> tid_offset;        // of the tid from the thread pointer
  bool asks_kernel = true;                  // some action wants the thread's id, or reads memory
  bool collects = false;                    // some action collects values
  bool no_syscalls = false;                 // a seccomp filter might not like pads to make one
  bool follow_fork = true;                  // children of fork record too
  std::optional<MonotonicClock> monotonic;  // none: the TSC
  std::optional<Births> births;             // none: nobody wants to know
  // By any action of the trace, also one that may come later: no pad leaves something else there, dead or
  // not.
  Recorded recorded;
  uint64_t latency_rate = 0;  // ns per unit of the clock, times 2^48; 0: a unit is one ns
  uint64_t trap_size = 0;     // of the memory right below the gate page for traps; 0: there are none

  TargetAddr unwind{};  // the abi::UnwindHeader; 0: nobody asks for stacks

  uint64_t shadow_size = 0;  // of the memory right below that for open calls; 0: nobody asks for returns

  TargetAddr shadow() const { return trap_table() - shadow_size; }
  TargetAddr trap_table() const { return gate() - trap_size; }
  TargetAddr gate() const { return control - abi::kGatePageSize; }
};

// Where the hits of one trace go.
struct ChannelEnvironment {
  abi::Geometry geometry;
  TargetAddr control;  // the channel region
};

struct Environment {
  ProcessEnvironment process;
  std::vector<ChannelEnvironment> channels;  // by Action::channel
};

// The code of one channel that all pads of an area share.
struct ChannelStubs {
  TargetAddr next_subbuf;   // rseq section: move this CPU's ring to its next sub-buffer
  TargetAddr name_process;  // rseq section: say in this CPU's ring whose records follow
};

// Addresses of the code that all pads of one area share.
struct AreaStubs {
  std::vector<ChannelStubs> channels;  // by Action::channel
  TargetAddr reserve;                  // runtime blob: a slot of the shared ring
  // Runtime blob: open calls, where the pad's own way does not work.
  TargetAddr enter, find, leave;
  TargetAddr measure;         // runtime blob: a latency into the histogram that all CPUs share
  TargetAddr tell_libraries;  // runtime blob
  TargetAddr fetch;           // runtime blob: reads of memory that may not be there
  TargetAddr backtrace;       // runtime blob: the stack of a hit
  TargetAddr collect;         // runtime blob: values whose parts lie in many places
  TargetAddr safe_load;       // an abi::SafeLoad; 0: what can be read is not known here
  TargetAddr find_range;      // runtime blob: where memory that sections may read is
  TargetAddr find_reading;    // runtime blob: where a thread says what its sections read
};

}  // namespace blip::jit
