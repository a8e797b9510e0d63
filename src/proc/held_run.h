// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/addr.h"
#include "base/result.h"
#include "proc/stop_event.h"

namespace blip::proc {

// Lets a held child of blip run for a while. *Held* means: stopped by SIGSTOP, as a shell's job may be, and
// not traced; so everything that works on any stopped target works on it. While this object lives the child
// is traced and dies if blip does. ptrace belongs to an OS thread: use it in the thread that made it.
class HeldRun {
 public:
  // kBusy: somebody has continued the child. kGone: it has ended.
  static Result<HeldRun> begin(pid_t pid);
  HeldRun(HeldRun&& other) noexcept;
  HeldRun& operator=(HeldRun&&) = delete;
  // Without hold() the child is killed: it was not brought to a known place.
  ~HeldRun();

  // Stops before the instruction at the address, where the child may come by often. No byte of the program
  // changes and children it forks meanwhile are not concerned: a debug register or, where there is none to
  // be had, single steps.
  Status break_at(TargetAddr addr);
  // Ends the stop of the group: threads that the child makes run, where they would fall into the stop and
  // let the child wait for them for ever. hold() stops them all again.
  Status let_group_run();
  // Runs on until the child is at break_at's address (kInterrupt), has executed a program (kExec) or has
  // ended (kEnded, its exit status still to be waited for). Signals reach it as they would have.
  Result<StopEvent> resume();
  // Held again, before its next instruction. Also after somebody's SIGCONT came in between.
  Status hold();

  // For tests: as if there was no debug register.
  void step_always() { stepping_ = true; }

 private:
  explicit HeldRun(pid_t pid) : pid_(pid) {}

  enum class Trap { kProgramsOwn, kElsewhere, kThere };
  Result<Trap> explain_trap() const;
  Status set_breakpoint(TargetAddr addr, bool enabled);
  Result<StopEvent> send_stop();
  void put_trap_back_into_mask();
  Error ptrace_error(const char* what) const;

  pid_t pid_;
  TargetAddr break_addr_;
  bool stepping_ = false;
  bool trap_was_blocked_ = false;
  bool swallow_continue_ = false;  // our own SIGCONT is on its way
};

// Lets one thread of a held process run until it waits for something, or for a moment, and fall back into the
// stop. Fine if it has ended.
Status run_held_thread(pid_t pid, pid_t tid, std::chrono::milliseconds moment);

// Waits as long as it takes; an exit status is left for the owner of the child.
StopEvent wait_for_child(pid_t pid);

}  // namespace blip::proc
