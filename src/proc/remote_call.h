// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "proc/attachment.h"
#include "proc/call_list.h"
#include "proc/files/memory.h"
#include "proc/files/status.h"
#include "proc/stub_site.h"

namespace blip::proc {

// Runs system calls in one stopped thread of the target. At every moment the thread's registers and memory
// are such that, should blip die, it finishes the call at hand, restores itself and goes on. finish() or the
// end of the object puts the thread back exactly where it was stopped, with its stack and the stub's bytes.
// Attachment and Memory must outlive it.
class RemoteCaller {
 public:
  static constexpr uint64_t kMaxBytes = 256;

  // Chooses a thread with room on its stack, if possible one that no handler of the program's can interrupt,
  // or one waiting in a system call.
  static Result<RemoteCaller> create(Attachment& attachment, Memory& memory, StubSite site);
  // In this thread or not at all.
  static Result<RemoteCaller> create_in(pid_t tid, Attachment& attachment, Memory& memory, StubSite site);

  RemoteCaller(RemoteCaller&& other) noexcept;
  RemoteCaller& operator=(RemoteCaller&&) = delete;
  ~RemoteCaller() { finish(); }

  // The call's result, or its errno as an Error. Signals that arrive meanwhile are delivered as they would
  // have been. In a target with seccomp filters that cannot be suspended only mmap and munmap are run, others
  // give kUnsupported. Not for calls that wait or restart (futex, poll, nanosleep, sigreturn): kUnsupported.
  Result<uint64_t> call(long number, std::span<const uint64_t> arguments);
  template <typename... Args>
  Result<uint64_t> call(long number, Args... args) {
    const std::array<uint64_t, sizeof...(Args)> arguments{static_cast<uint64_t>(args)...};
    return call(number, std::span<const uint64_t>(arguments));
  }

  // All calls of a list, whatever each of them gives; an error if one could not be made. The thread runs as
  // few times as possible: on a busy machine it waits for a CPU each time.
  Status run(CallList& list);
  // Memory that blip shares with the target and that nobody else uses yet: for long lists, of which a stack
  // holds only a few calls. It must be mapped for as long as lists are run, and is zeroed after each.
  void lend(TargetAddr there, std::span<uint8_t> here) { arena_ = {there, here}; }

  pid_t pid() const { return pid_; }
  pid_t tid() const { return thread_->tid; }
  // The registers with which the thread was stopped.
  const Registers& registers() const { return original_; }
  // True if only mmap and munmap may be called.
  bool restricted() const { return restricted_; }
  // The pause that is allowed is half over (Attachment::must_let_go).
  bool must_let_go() const { return attachment_->must_let_go(); }
  // One more: the caller knows that the target's filter lets it pass.
  void permit(long number) { also_permitted_ = number; }

  void finish();

 private:
  // A list, or what fits of it, as it lies in the target's memory.
  struct Layout {
    TargetAddr calls;
    TargetAddr begin;             // of `memory`
    std::vector<uint8_t> memory;  // bytes that calls point at, the calls, the one that tells of the end
    size_t count = 0;             // of calls of the list
  };
  struct Arena {
    TargetAddr there;
    std::span<uint8_t> here;
  };

  RemoteCaller(const Attachment& attachment, Thread& thread, Memory& memory, StubSite site);
  static Result<RemoteCaller> create_in_one_of(std::span<Thread* const> candidates, Attachment& attachment,
                                               Memory& memory, StubSite site);

  Status prepare();
  Status check_seccomp();
  Status save_stack();
  Status check_permitted(long number) const;
  Status run_all(std::span<CallList::Call> calls);
  void choose_mark(const ProcStatus& status);
  Status write_stub();
  Status leave_stub();
  Status write(TargetAddr at, std::span<const uint8_t> bytes);

  // The number of calls that were made; it may be 0 if a signal came first.
  Result<size_t> run_together(std::span<CallList::Call> calls);
  Layout lay_out(std::span<const CallList::Call> calls) const;
  Status enter(const Layout& layout);
  void take_arena_back();
  Result<size_t> run_to_mark(const Layout& layout, std::span<CallList::Call> calls);
  Result<size_t> take_results(const Layout& layout, std::span<CallList::Call> calls);

  Result<int64_t> run_alone(const CallList::Call& call);
  Status enter(const CallList::Call& call);
  // None: a signal came first and has been delivered.
  Result<std::optional<int64_t>> run_to_exit();
  Result<std::optional<int64_t>> take_result();
  Status deliver_signal(int signal);
  Status swallow_sigsys();
  Error signals_all_the_time() const;

  const Attachment* attachment_;
  pid_t pid_;
  Thread* thread_;
  Memory* memory_;
  StubSite site_;
  bool restricted_ = false;
  long also_permitted_ = -1;
  bool stub_written_ = false;
  bool in_stub_ = false;
  int mark_ = 0;       // the signal by which a thread says that its list is done; 0: none
  pid_t own_tid_ = 0;  // as the thread sees it
  Arena arena_;
  int handlers_ = 0;                  // that were called in the thread and have not run yet
  Registers original_;                // where the thread was stopped
  std::vector<uint8_t> saved_stack_;  // from scratch_ up to the red zone
  TargetAddr scratch_;                // kMaxBytes for calls and their bytes, above them the stub's frame
};

}  // namespace blip::proc
