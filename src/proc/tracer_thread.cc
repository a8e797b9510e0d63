// SPDX-License-Identifier: MIT
#include "proc/tracer_thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace blip::proc {

namespace {

constexpr int kMostUrgent = -20;
constexpr timespec kShortWait{0, 20'000};

thread_local bool is_tracer = false;
thread_local bool is_urgent = false;
thread_local bool somebody_stays_attached = false;

}  // namespace

void begin_urgency() {
  const sched_param lowest{.sched_priority = 1};
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  is_urgent = ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) == 0;
}

void end_urgency() {
  const sched_param none{};
  if (std::exchange(is_urgent, false)) (void)::sched_setscheduler(0, SCHED_OTHER, &none);
}

bool is_tracer_thread() { return is_tracer; }

void expect_end_of_tracer_thread() { somebody_stays_attached = true; }

namespace internal {

void begin_tracer_thread() {
  is_tracer = true;
  end_thread_on_check_failure();
  hurry_this_thread();
}

pid_t tracer_thread_to_outlive() { return somebody_stays_attached ? ::gettid() : 0; }

// join() returns a little before the kernel lets the thread's tracees go.
void wait_until_gone(pid_t tid) {
  while (::tgkill(::getpid(), tid, 0) == 0 || errno != ESRCH) ::nanosleep(&kShortWait, nullptr);
}

}  // namespace internal

namespace {

// struct sched_attr of <linux/sched/types.h>, which no libc here declares.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // of SCHED_OTHER: the time slice
  uint64_t deadline = 0;
  uint64_t period = 0;
};

// A thread that asks for shorter slices gets the CPU sooner: since Linux 6.12 a thread that wakes up takes
// the CPU from one with a longer slice, and does not wait for that to be used up. Its share of the CPU stays
// the same, so everybody may ask.
void take_short_slices() {
  constexpr uint64_t kShortest = 100'000;
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  SchedulingAttributes wanted;
  wanted.nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
  wanted.runtime = kShortest;
  (void)::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

}  // namespace

void hurry_this_thread() {
  take_short_slices();
  // In Linux this sets the priority of a thread (setpriority(2), "C library/kernel differences").
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kMostUrgent);
}

}  // namespace blip::proc
