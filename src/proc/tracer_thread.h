// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/check.h"

namespace blip::proc {

// While a target is stopped, whoever else wants the CPU makes its pause longer. The highest priority needs a
// privilege (or RLIMIT_NICE); without it the thread only asks to be run soon.
void hurry_this_thread();

// While threads of a target stand still, this thread comes before all ordinary ones, where it is permitted
// (CAP_SYS_NICE or RLIMIT_RTPRIO). It must not work for long then.
void begin_urgency();
void end_urgency();

// True inside of on_tracer_thread(): attachments end when the work does.
bool is_tracer_thread();

// A thread of the target stays attached until this tracer thread ends. on_tracer_thread() then returns only
// when the kernel has undone that, so that the next one can attach.
void expect_end_of_tracer_thread();

namespace internal {
void begin_tracer_thread();
// The tracer thread's id if somebody stays attached to it, else 0.
pid_t tracer_thread_to_outlive();
void wait_until_gone(pid_t tid);
}  // namespace internal

// Runs a piece of work that attaches to processes on an OS thread of its own and returns its result. When
// that thread ends the kernel undoes every attachment it still has, even to threads that never stopped:
// nothing can be left behind. Where a limit does not allow one more thread this one does the work, and its
// end comes with blip's.
template <typename Work>
auto on_tracer_thread(Work&& work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  std::thread tracer;
  pid_t outlived = 0;
  try {
    tracer = std::thread([&] {
      internal::begin_tracer_thread();
      result.emplace(work());
      outlived = internal::tracer_thread_to_outlive();
    });
  } catch (const std::system_error&) {
    return work();
  }
  tracer.join();
  if (!result) wait_for_abort();  // a CHECK failed in the work
  if (outlived != 0) internal::wait_until_gone(outlived);
  return *std::move(result);
}

}  // namespace blip::proc
