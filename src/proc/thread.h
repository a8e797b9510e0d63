// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/addr.h"
#include "base/result.h"
#include "machine/thread_registers.h"

namespace blip::proc {

using Registers = machine::ThreadRegisters;

// The restartable-sequences registration of a thread; area 0 means none.
struct RseqConfig {
  TargetAddr area;
  uint32_t size = 0;
  uint32_t signature = 0;
  uint32_t flags = 0;
};

// One stopped thread of an Attachment. `registers` is what the kernel has now; change it with set_registers
// only.
struct Thread {
  pid_t tid = 0;
  Registers registers;
  // The system call that our stop has interrupted and that the kernel would not repeat as it was; the thread
  // has been rewound to repeat it. -1: none.
  int64_t rewound_call = -1;
  // The result at which that call stood: -EINTR, or machine::kRestartBlock in a thread behind a seccomp filter
  // (filtered_sleep.h).
  int64_t rewound_result = 0;
  // False after a failure only: the thread runs, nothing may be asked of it.
  bool stopped = false;
  // The signal the thread is about to receive; it goes on with it.
  int pending_signal = 0;
  std::chrono::steady_clock::time_point interrupted_at;
  std::chrono::steady_clock::time_point seen_running_at;  // last, since it was interrupted
  std::chrono::nanoseconds waited_for_cpu{0};             // while it made calls for blip
  // Signals cannot be pending without being queued (ProcStatus::queues_signals), so asking the queues is
  // enough.
  bool queues_signals = false;

  Status set_registers(const Registers& wanted);
  // Reads `registers` anew.
  Status refresh();

  // All zero where the thread has not registered; kUnsupported where the kernel cannot tell (before 5.13).
  Result<RseqConfig> rseq() const;
  // The address at which user code goes on: before the `syscall` instruction if the kernel will run it again.
  uint64_t restart_pc() const;
  bool shadow_stack() const;

  // Right after a stop: refresh(), repair_spurious_eintr() and hold_filtered_sleep(). Tried more than once,
  // because a failure that passes (no descriptor or memory for a moment) would leave the program the EINTR.
  Status refresh_and_repair(pid_t pid, int delivering);
  // Hides a spurious EINTR from the program (rewinds it) unless one of its own signals
  // caused it: a pending one, or `delivering`, which the thread is about to receive (0: none).
  Status repair_spurious_eintr(pid_t pid, int delivering);
  // Rewinds a sleep that the kernel would go on with by restart_syscall, if a seccomp filter would see that.
  Status hold_filtered_sleep(pid_t pid);
  bool holds_filtered_sleep() const { return rewound_call >= 0 && rewound_result == machine::kRestartBlock; }
  // The signals that will end a system call of this thread with EINTR, as a mask.
  Result<uint64_t> interrupting_signals(pid_t pid) const;
  // Lets the thread take pending_signal and stop again before it runs any code of the program.
  Status resume_with_signal_and_interrupt();
  // Gives a rewound thread its result back, because a signal handler is about to run: it makes EINTR of it.
  Status undo_rewind();

 private:
  bool queues_are_empty() const;
  Status rewind(uint64_t number);
};

}  // namespace blip::proc
