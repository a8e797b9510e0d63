// SPDX-License-Identifier: MIT
#include "session/wake_ups.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace blip::session {
namespace {

constexpr std::chrono::milliseconds kNow{0};

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void ring() const { EXPECT_EQ(::write(write.get(), "x", 1), 1); }

  Fd read, write;
};

struct Sleeper {
  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
  WakeUps wake_ups{*loop};

  void watch(const std::vector<WakeUps::Waker>& wanted) { wake_ups.watch(wanted); }

  bool wakes() const { return loop->wait(kNow) != 0; }
};

TEST(WakeUps, end_a_sleep_as_long_as_they_are_wanted) {
  Sleeper s;
  const Pipe pipe;
  s.watch({{1, pipe.read.get()}});
  EXPECT_FALSE(s.wakes());
  pipe.ring();
  EXPECT_TRUE(s.wakes());
  s.watch({{1, pipe.read.get()}});
  EXPECT_TRUE(s.wakes());
  s.watch({});
  EXPECT_FALSE(s.wakes());
}

TEST(WakeUps, without_a_descriptor_are_left_out) {
  Sleeper s;
  s.watch({{1, -1}});
  EXPECT_EQ(s.wake_ups.count(), 0U);
}

TEST(WakeUps, what_the_kernel_refuses_is_no_wake_up_and_no_error) {
  Sleeper s;
  {
    const Pipe pipe;
    s.watch({{1, pipe.read.get()}});
  }
  s.watch({{1, 4000}, {2, STDIN_FILENO + 4001}});
  EXPECT_EQ(s.wake_ups.count(), 0U);
}

TEST(WakeUps, of_another_process_at_the_same_number_are_watched_anew) {
  Sleeper s;
  auto first = std::make_unique<Pipe>();
  const int number = first->read.get();
  s.watch({{1, number}});
  first.reset();
  const Pipe second;
  ASSERT_EQ(second.read.get(), number);
  s.watch({{2, number}});
  second.ring();
  EXPECT_TRUE(s.wakes());
}

}  // namespace
}  // namespace blip::session
