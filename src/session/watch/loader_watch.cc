// SPDX-License-Identifier: MIT
#include "session/watch/loader_watch.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "base/quiet_thread.h"

namespace blip::session {

namespace {

void futex(uint32_t* word, int operation, uint32_t value) {
  constexpr timespec kAtMost{.tv_sec = 1, .tv_nsec = 0};  // where it counts waiting
  ::syscall(SYS_futex, word, operation, value, &kAtMost, nullptr, 0);
}

}  // namespace

LoaderWatch::LoaderWatch(abi::LibraryWord& word, int32_t vpid)
    : word_(word), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  word_.pid = vpid;
  looked_ = __atomic_load_n(&word_.changes, __ATOMIC_ACQUIRE);
  waiting_ = start_quiet_thread([this, last = looked_] { wait(last); });
  // Without the thread nobody would hear who waits.
  __atomic_store_n(&word_.hold, waiting_.joinable() ? 1 : 0, __ATOMIC_RELEASE);
}

// Whoever waits is let go, also who has seen `hold` and is about to.
LoaderWatch::~LoaderWatch() {
  constexpr uint32_t kAllToCome = 1 << 20;
  __atomic_store_n(&word_.hold, 0, __ATOMIC_RELEASE);
  stop_ = true;
  // One more, so that the waiting thread does not miss it.
  looked(__atomic_add_fetch(&word_.changes, 1, __ATOMIC_ACQ_REL) + kAllToCome);
  futex(&word_.changes, FUTEX_WAKE, INT_MAX);
  if (waiting_.joinable()) waiting_.join();
}

void LoaderWatch::wait(uint32_t last) {
  while (!stop_) {
    const uint32_t now = __atomic_load_n(&word_.changes, __ATOMIC_ACQUIRE);
    if (now == last) {
      futex(&word_.changes, FUTEX_WAIT, last);
      continue;
    }
    last = now;
    __atomic_store_n(&word_.seen, now, __ATOMIC_RELEASE);
    const uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one);
  }
}

std::optional<uint32_t> LoaderWatch::change() {
  uint64_t events;
  (void)!::read(event_.get(), &events, sizeof events);
  const uint32_t now = __atomic_load_n(&word_.changes, __ATOMIC_ACQUIRE);
  return now == looked_ ? std::nullopt : std::optional(now);
}

void LoaderWatch::looked(uint32_t change) {
  looked_ = change;
  __atomic_store_n(&word_.looked, change, __ATOMIC_RELEASE);
  futex(&word_.looked, FUTEX_WAKE, INT_MAX);
}

}  // namespace blip::session
