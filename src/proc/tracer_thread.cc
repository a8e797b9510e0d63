// SPDX-License-Identifier: MIT
#include "proc/tracer_thread.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace blip::proc {

namespace {

constexpr int kMostUrgent = -20;
constexpr timespec kShortWait{0, 20'000};

thread_local bool is_tracer = false;
thread_local bool somebody_stays_attached = false;

}  // namespace

bool is_tracer_thread() { return is_tracer; }

void expect_end_of_tracer_thread() { somebody_stays_attached = true; }

namespace internal {

void begin_tracer_thread() {
  is_tracer = true;
  hurry_this_thread();
}

pid_t tracer_thread_to_outlive() { return somebody_stays_attached ? ::gettid() : 0; }

// join() returns a little before the kernel lets the thread's tracees go.
void wait_until_gone(pid_t tid) {
  while (::tgkill(::getpid(), tid, 0) == 0 || errno != ESRCH) ::nanosleep(&kShortWait, nullptr);
}

}  // namespace internal

void hurry_this_thread() {
  // Of a thread, in Linux (setpriority(2), "C library/kernel differences").
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kMostUrgent);
}

}  // namespace blip::proc
