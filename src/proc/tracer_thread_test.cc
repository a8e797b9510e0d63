// SPDX-License-Identifier: MIT
#include "proc/tracer_thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace blip::proc {
namespace {

int priority_of_this_thread() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

TEST(TracerThread, hurries_where_it_may_and_alone) {
  const int before = priority_of_this_thread();
  const int inside = on_tracer_thread(priority_of_this_thread);
  EXPECT_TRUE(inside == -20 || inside == before) << inside;
  EXPECT_EQ(priority_of_this_thread(), before);
}

}  // namespace
}  // namespace blip::proc
