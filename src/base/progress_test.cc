// SPDX-License-Identifier: MIT
#include "base/progress.h"

#include <gtest/gtest.h>

#include <thread>

namespace blip::progress {
namespace {

using std::chrono::seconds;

TEST(Progress, nothing_is_under_way_at_first) { EXPECT_FALSE(Board().current()); }

TEST(Progress, the_innermost_step_since_the_outermost_began) {
  Board board;
  const Clock::time_point start{};
  const uint64_t outer = board.begin("attaching", start);
  const uint64_t inner = board.begin("reading", start + seconds(1));
  ASSERT_TRUE(board.current());
  EXPECT_EQ(board.current()->doing, "reading");
  EXPECT_EQ(board.current()->since, start);
  board.end(inner);
  EXPECT_EQ(board.current()->doing, "attaching");
  board.end(outer);
  EXPECT_FALSE(board.current());
}

TEST(Progress, steps_of_two_threads_may_end_in_any_order) {
  Board board;
  const Clock::time_point start{};
  const uint64_t first = board.begin("a", start);
  const uint64_t second = board.begin("b", start + seconds(1));
  board.end(first);
  EXPECT_EQ(board.current()->doing, "b");
  EXPECT_EQ(board.current()->since, start + seconds(1));
  board.end(second);
  EXPECT_FALSE(board.current());
}

TEST(Progress, a_step_lasts_as_long_as_its_object) {
  {
    const Step step("working");
    ASSERT_TRUE(Board::of_process().current());
    EXPECT_EQ(Board::of_process().current()->doing, "working");
  }
  EXPECT_FALSE(Board::of_process().current());
}

TEST(Progress, a_wake_before_the_wait_is_not_lost) {
  Board board;
  board.wake();
  board.wait_for_step();
  board.wake();
  board.wait_until(Clock::now() + std::chrono::hours(1));
}

TEST(Progress, a_step_ends_the_wait_for_one) {
  Board board;
  std::thread waiter([&] { board.wait_for_step(); });
  board.begin("x", Clock::now());
  waiter.join();
}

}  // namespace
}  // namespace blip::progress
