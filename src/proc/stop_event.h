// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/result.h"

namespace blip::proc {

// Options of every attachment: tell system-call stops from signals; see exits and execs before they happen.
extern const unsigned long kTraceOptions;

enum class StopKind {
  kRunning,    // not stopped
  kEnded,      // exited, killed, or no longer ours
  kInterrupt,  // the stop we asked for
  kGroupStop,  // the same of a thread that is stopped by SIGSTOP, SIGTTIN ... anyway
  kSignal,     // about to receive `signal`
  kSyscall,    // entering or leaving a system call
  kExit,       // about to exit
  kExec,       // has a new program
};

struct StopEvent {
  StopKind kind = StopKind::kRunning;
  int signal = 0;
};

// Decodes the status of a ptrace stop as waitid reports it: signal | event << 8. Pure.
StopEvent decode_stop(int status);

// Takes the thread's stop report if there is one. Never takes an exit status away from the program that waits
// for it.
StopEvent poll_stop(pid_t tid);

// kRunning means that the deadline passed.
StopEvent wait_for_stop(pid_t pid, pid_t tid, std::chrono::steady_clock::time_point deadline);

// The thread is a zombie or gone.
bool thread_ended(pid_t pid, pid_t tid);

// Passes the end of an attached thread on to the program's own parent, which is told only after us.
void reap_thread(pid_t pid, pid_t tid);

// Waiting that begins fast, for stops take microseconds, and then leaves the CPU to others.
class Backoff {
 public:
  void pause();
  // True now and then: time for a check that costs more.
  bool time_to_look() const { return rounds_ % 64 == 63; }

 private:
  unsigned rounds_ = 0;
};

}  // namespace blip::proc
