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
#include "proc/memory.h"
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

  // The same with a first argument that points at a copy of `bytes` (at most kMaxBytes) in the target's
  // memory.
  Result<uint64_t> call_with_bytes(long number, std::span<const uint8_t> bytes,
                                   std::span<const uint64_t> others);

  pid_t tid() const { return thread_->tid; }
  // Where the thread was stopped.
  const Registers& registers() const { return original_; }
  // True if only mmap and munmap may be called.
  bool restricted() const { return restricted_; }
  // One more: the caller knows that the target's filter lets it pass.
  void permit(long number) { also_permitted_ = number; }

  void finish();

 private:
  struct Call;

  RemoteCaller(pid_t pid, Thread& thread, Memory& memory, StubSite site);
  static Result<RemoteCaller> create_in_one_of(std::span<Thread* const> candidates, Attachment& attachment,
                                               Memory& memory, StubSite site);

  Status prepare();
  Status check_seccomp();
  Status save_stack();
  Status check_permitted(long number) const;
  Result<uint64_t> run(const Call& call);
  Status enter_stub(const Call& call);
  Status write_stub();
  Status leave_stub();
  // None: a signal came first and has been delivered.
  Result<std::optional<int64_t>> run_to_exit();
  Result<std::optional<int64_t>> take_result();
  Status deliver_signal(int signal);
  Status swallow_sigsys();
  Error signals_all_the_time() const;

  pid_t pid_;
  Thread* thread_;
  Memory* memory_;
  StubSite site_;
  bool restricted_ = false;
  long also_permitted_ = -1;
  bool stub_written_ = false;
  bool in_stub_ = false;
  int handlers_ = 0;                  // that were called in the thread and have not run yet
  Registers original_;                // where the thread was stopped
  std::vector<uint8_t> saved_stack_;  // from scratch_ up to the red zone
  TargetAddr scratch_;                // kMaxBytes for call_with_bytes, above them the stub's frame
};

}  // namespace blip::proc
