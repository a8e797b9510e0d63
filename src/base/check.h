// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/result.h"

namespace blip {

// While one lives, a failed CHECK calls `restore` before it ends the process. It is called on a thread of its own, again
// and again until it succeeds or the time for all restorers is over; so it must not need anything that the failing thread
// may hold or have left half done. The process ends with SIGABRT afterwards in any case.
class FailureRestorer {
 public:
  explicit FailureRestorer(std::function<Status()> restore);
  ~FailureRestorer();
  FailureRestorer(const FailureRestorer&) = delete;
  FailureRestorer& operator=(const FailureRestorer&) = delete;

 private:
  friend struct FailureRestorers;

  std::function<Status()> restore_;
  pid_t pid_;  // a child of a fork restores nothing
};

// From now on a CHECK that fails in this thread ends the thread at once, without destructors, so that the kernel undoes what
// depends on the thread (ptrace). Whoever joins it calls wait_for_abort() if it has brought no result.
void end_thread_on_check_failure();
[[noreturn]] void wait_for_abort();

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace blip

// States what cannot be otherwise; on in every build.
#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::blip::check_failed(#condition, __FILE__, __LINE__))
