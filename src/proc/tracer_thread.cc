// SPDX-License-Identifier: MIT
#include "proc/tracer_thread.h"

#include <sys/resource.h>
#include <unistd.h>

namespace blip::proc {

namespace {

constexpr int kMostUrgent = -20;

}  // namespace

void hurry_this_thread() {
  // Of a thread, in Linux (setpriority(2), "C library/kernel differences").
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kMostUrgent);
}

}  // namespace blip::proc
