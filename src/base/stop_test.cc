// SPDX-License-Identifier: MIT
#include "base/stop.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace blip {
namespace {

bool is_readable(int fd) {
  pollfd events{fd, POLLIN, 0};
  return ::poll(&events, 1, 0) == 1;
}

TEST(StopRequest, at_once_only_while_nothing_is_touched) {
  StopRequest stop;
  EXPECT_FALSE(stop.may_end_at_once());
  {
    const StopRequest::Untouched untouched(stop);
    EXPECT_TRUE(stop.may_end_at_once());
    {
      const StopRequest::Vital child(&stop);
      EXPECT_FALSE(stop.may_end_at_once());
    }
    EXPECT_TRUE(stop.may_end_at_once());
  }
  EXPECT_FALSE(stop.may_end_at_once());
  const StopRequest::Vital nobody(nullptr);
}

TEST(StopRequest, is_an_error_for_those_who_ask) {
  StopRequest stop;
  EXPECT_TRUE(stop.check());
  stop.request();
  EXPECT_TRUE(stop.requested());
  EXPECT_FALSE(stop.check());
}

TEST(StopRequest, wakes_who_sleeps_and_stays) {
  StopRequest stop;
  EXPECT_FALSE(is_readable(stop.fd()));
  std::thread([&] { stop.request(); }).join();
  stop.request();
  EXPECT_TRUE(is_readable(stop.fd()));
  EXPECT_TRUE(is_readable(stop.fd()));
}

TEST(StopRequest, of_one_piece_of_work_does_not_end_another) {
  StopRequest stop, other;
  stop.request();
  EXPECT_FALSE(other.requested());
  EXPECT_FALSE(is_readable(other.fd()));
}

}  // namespace
}  // namespace blip
