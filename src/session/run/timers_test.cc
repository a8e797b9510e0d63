// SPDX-License-Identifier: MIT
#include "session/run/timers.h"

#include <gtest/gtest.h>

namespace blip::session {
namespace {

using std::chrono::nanoseconds;

TEST(Timers, come_in_the_order_of_time) {
  Timers timers;
  EXPECT_FALSE(timers.next());
  timers.add(1, nanoseconds(30));
  timers.add(2, nanoseconds(20));
  EXPECT_FALSE(timers.next());
  timers.start(100);
  std::vector<std::pair<size_t, uint64_t>> seen;
  while (timers.next()->time_ns <= 160) {
    seen.emplace_back(timers.next()->which, timers.next()->time_ns);
    timers.pass(160);
  }
  EXPECT_EQ(seen,
            (std::vector<std::pair<size_t, uint64_t>>{{2, 120}, {1, 130}, {2, 140}, {1, 160}, {2, 160}}));
  EXPECT_EQ(timers.left_out(), 0U);
}

TEST(Timers, leave_out_what_was_due_while_nobody_asked_for_long) {
  Timers timers;
  timers.add(1, nanoseconds(1));
  timers.start(0);
  timers.pass(1'000'000);
  EXPECT_EQ(timers.next()->time_ns, 1'000'000U);
  EXPECT_EQ(timers.left_out(), 999'998U);
}

}  // namespace
}  // namespace blip::session
