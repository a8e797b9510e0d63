// SPDX-License-Identifier: MIT
// A failed CHECK is treated like a blip that was killed and a `blip clean` after it, because both are known to work at any
// instruction. The failing thread does nothing more. What it holds, and what it has left half done, is not looked at: a new
// thread restores the targets from what can be read in them.
#include "base/check.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"

namespace blip {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestRestoring{5};
constexpr std::chrono::milliseconds kBetweenTries{20};

thread_local bool ends_on_failure = false;

[[noreturn]] void end_or_wait() {
  if (ends_on_failure) ::syscall(SYS_exit, 0);
  wait_for_abort();
}

}  // namespace

// Those of this program. A list for all threads: the one that fails may be any.
struct FailureRestorers {
  std::mutex mutex;  // held while they work, so that none of them ends meanwhile
  std::vector<FailureRestorer*> all;
  std::atomic<bool> failed{false};

  static FailureRestorers& instance() {
    static auto* const restorers = new FailureRestorers;  // threads may fail until the very end
    return *restorers;
  }

  bool any() {
    const std::lock_guard lock(mutex);
    return !all.empty();
  }

  void run() {
    const auto deadline = Clock::now() + kLongestRestoring;
    const std::unique_lock lock(mutex);
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if ((*it)->pid_ != ::getpid()) continue;
      while (!(*it)->restore_() && Clock::now() < deadline) std::this_thread::sleep_for(kBetweenTries);
    }
  }
};

FailureRestorer::FailureRestorer(std::function<Status()> restore)
    : restore_(std::move(restore)), pid_(::getpid()) {
  FailureRestorers& restorers = FailureRestorers::instance();
  const std::lock_guard lock(restorers.mutex);
  restorers.all.push_back(this);
}

FailureRestorer::~FailureRestorer() {
  FailureRestorers& restorers = FailureRestorers::instance();
  const std::lock_guard lock(restorers.mutex);
  std::erase(restorers.all, this);
}

void end_thread_on_check_failure() { ends_on_failure = true; }

void wait_for_abort() {
  for (;;) ::pause();
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "blip: internal error at %s:%d: %s does not hold\n", file, line, condition);
  FailureRestorers& restorers = FailureRestorers::instance();
  if (restorers.failed.exchange(true)) end_or_wait();  // a restorer itself, or another thread while they work
  if (!restorers.any()) std::abort();
  std::thread deadline = start_quiet_thread([] {
    std::this_thread::sleep_for(kLongestRestoring);
    std::abort();
  });
  std::thread restoring = start_quiet_thread([&] {
    restorers.run();
    std::abort();
  });
  if (!deadline.joinable() || !restoring.joinable()) std::abort();
  deadline.detach();
  restoring.detach();
  end_or_wait();
}

}  // namespace blip
