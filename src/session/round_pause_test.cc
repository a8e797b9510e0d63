// SPDX-License-Identifier: MIT
#include "session/round_pause.h"

#include <gtest/gtest.h>

namespace blip::session {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kRing = 1 << 20;

TEST(RoundPause, is_shorter_the_more_comes_in) {
  EXPECT_EQ(round_pause({.bytes = 0, .ring_size = kRing}), milliseconds(20));
  EXPECT_EQ(round_pause({.bytes = 1, .ring_size = kRing}), milliseconds(5));
  EXPECT_EQ(round_pause({.bytes = kRing / 4, .ring_size = kRing}), milliseconds(5));
  EXPECT_EQ(round_pause({.bytes = kRing / 4 + 1, .ring_size = kRing}), milliseconds(1));
}

TEST(RoundPause, is_short_where_an_exec_must_be_noticed) {
  EXPECT_EQ(round_pause({.ring_size = kRing, .follows_exec = true}), milliseconds(2));
  EXPECT_EQ(round_pause({.ring_size = kRing, .follows_exec = true, .program_comes = true}), milliseconds(1));
  EXPECT_EQ(round_pause({.bytes = kRing, .ring_size = kRing, .follows_exec = true}), milliseconds(1));
}

TEST(RoundPause, ends_with_the_trace) {
  EXPECT_EQ(round_pause({.ring_size = kRing, .left = milliseconds(7)}), milliseconds(7));
  EXPECT_EQ(round_pause({.ring_size = kRing, .left = milliseconds(70)}), milliseconds(20));
  EXPECT_EQ(round_pause({.ring_size = kRing, .left = milliseconds(-1)}), milliseconds(0));
}

TEST(RoundPause, is_none_after_a_wait_for_the_reader) {
  EXPECT_EQ(round_pause({.ring_size = kRing, .held_up = true}), milliseconds(0));
}

TEST(RoundPause, is_over_when_a_timer_is_due) {
  EXPECT_EQ(round_pause({.until_timer = milliseconds(3)}), milliseconds(3));
}

}  // namespace
}  // namespace blip::session
