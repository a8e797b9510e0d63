// SPDX-License-Identifier: MIT
#include "session/drain/discard_marks.h"

#include <gtest/gtest.h>

#include "session/drain/buffer_need.h"

namespace blip::session {
namespace {

TEST(DiscardMarks, counts_that_do_not_rise_are_no_marks) {
  DiscardMarks marks;
  marks.note({.place = 10, .discarded = 0, .time_ns = 1});
  EXPECT_EQ(marks.next(), std::nullopt);
  marks.note({.place = 10, .discarded = 4, .time_ns = 2});
  marks.note({.place = 20, .discarded = 4, .time_ns = 3});
  EXPECT_EQ(marks.next(), 10u);
  EXPECT_EQ(marks.take().discarded, 4u);
  EXPECT_EQ(marks.next(), std::nullopt);
}

TEST(DiscardMarks, one_place_has_one_mark) {
  DiscardMarks marks;
  marks.note({.place = 10, .discarded = 4, .time_ns = 2});
  marks.note({.place = 10, .discarded = 6, .time_ns = 3});
  marks.note({.place = 30, .discarded = 7, .time_ns = 4});
  EXPECT_EQ(marks.take().discarded, 6u);
  EXPECT_EQ(marks.take().place, 30u);
}

TEST(BufferNeed, nothing_discarded_needs_nothing) {
  BufferNeed need(1000);
  need.waiting(1000);
  need.discarded(0);
  EXPECT_EQ(need.most(), 0u);
}

TEST(BufferNeed, what_was_discarded_in_one_go_must_find_room) {
  BufferNeed need(1000);
  need.waiting(1000);
  need.discarded(300);
  need.waiting(900);
  need.discarded(500);
  EXPECT_EQ(need.most(), 1500u);
}

TEST(BufferNeed, bursts_that_blip_got_over_do_not_add_up) {
  BufferNeed need(1000);
  for (uint64_t burst = 1; burst <= 10; ++burst) {
    need.waiting(1000);
    need.discarded(burst * 300);
    need.waiting(0);
  }
  EXPECT_EQ(need.most(), 1300u);
}

}  // namespace
}  // namespace blip::session
