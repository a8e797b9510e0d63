// SPDX-License-Identifier: MIT
#include "base/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace blip {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr auto kLong = std::chrono::seconds(20);

struct Pipe {
  Fd from, to;
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    from.reset(ends[0]);
    to.reset(ends[1]);
  }
  void fill() { ASSERT_EQ(::write(to.get(), "x", 1), 1); }
  void empty() {
    char c;
    ASSERT_EQ(::read(from.get(), &c, 1), 1);
  }
};

class EventLoopTest : public testing::Test {
 protected:
  std::unique_ptr<EventLoop> loop = *EventLoop::create();
  std::string log;
  EventLoop::Callback write(std::string_view text) {
    return [this, text] { log += text; };
  }
};

TEST_F(EventLoopTest, calls_back_as_long_as_there_is_something_to_read) {
  Pipe pipe;
  const auto watch = loop->on_readable(pipe.from.get(), write("a"));
  ASSERT_TRUE(watch);
  EXPECT_EQ(loop->wait(milliseconds(0)), 0);
  pipe.fill();
  EXPECT_EQ(loop->wait(kLong), 1);
  EXPECT_EQ(loop->wait(kLong), 1);
  pipe.empty();
  EXPECT_EQ(loop->wait(milliseconds(0)), 0);
  EXPECT_EQ(log, "aa");
}

TEST_F(EventLoopTest, a_dropped_watch_is_silent_and_its_descriptor_can_be_watched_again) {
  Pipe pipe;
  pipe.fill();
  auto first = *loop->on_readable(pipe.from.get(), write("a"));
  EXPECT_FALSE(loop->on_readable(pipe.from.get(), write("b"))) << "one watch for each descriptor";
  EXPECT_TRUE(first);
  first.drop();
  EXPECT_FALSE(first);
  const auto second = *loop->on_readable(pipe.from.get(), write("c"));
  loop->wait(kLong);
  EXPECT_EQ(log, "c");
}

TEST_F(EventLoopTest, a_callback_may_drop_its_own_watch_and_another_one_that_is_ready_too) {
  Pipe one, two;
  one.fill();
  two.fill();
  EventLoop::Watch a, b;
  const auto drop_both = [&] {
    log += "x";
    a.drop();
    b.drop();
  };
  a = *loop->on_readable(one.from.get(), drop_both);
  b = *loop->on_readable(two.from.get(), drop_both);
  EXPECT_EQ(loop->wait(kLong), 1);
  EXPECT_EQ(loop->wait(milliseconds(0)), 0);
  EXPECT_EQ(log, "x");
}

TEST_F(EventLoopTest, a_watch_that_is_moved_goes_on_and_replaces_the_one_that_was_there) {
  Pipe one, two;
  one.fill();
  two.fill();
  auto a = *loop->on_readable(one.from.get(), write("1"));
  auto b = *loop->on_readable(two.from.get(), write("2"));
  a = std::move(b);
  loop->wait(kLong);
  EXPECT_EQ(log, "2");
}

TEST_F(EventLoopTest, timers_come_in_the_order_of_their_times_once_and_not_too_early) {
  const auto begin = EventLoop::Clock::now();
  const auto c = loop->at(begin + milliseconds(30), write("c"));
  const auto a = loop->at(begin + milliseconds(10), write("a"));
  const auto b = loop->at(begin + milliseconds(20), write("b"));
  auto dropped = loop->at(begin + milliseconds(15), write("d"));
  dropped.drop();
  while (log.size() < 3) ASSERT_NE(loop->wait(kLong), 0);
  EXPECT_GE(EventLoop::Clock::now(), begin + milliseconds(30));
  EXPECT_EQ(log, "abc");
  EXPECT_FALSE(a);
  EXPECT_EQ(loop->wait(milliseconds(1)), 0);
}

TEST_F(EventLoopTest, a_time_that_has_passed_is_due_at_once) {
  const auto watch = loop->at(EventLoop::Clock::now() - kLong, write("a"));
  const auto zero = loop->at(EventLoop::Clock::time_point(), write("b"));
  EXPECT_EQ(loop->wait(kLong), 2);
  EXPECT_EQ(log, "ba");
}

TEST_F(EventLoopTest, a_timer_that_sets_itself_again_lets_others_run) {
  Pipe pipe;
  pipe.fill();
  EventLoop::Watch again;
  std::function<void()> set = [&] {
    log += "t";
    again = loop->at(EventLoop::Clock::now(), set);
  };
  set();
  const auto watch = loop->on_readable(pipe.from.get(), [&] {
    log += "p";
    pipe.empty();
  });
  loop->wait(kLong);
  loop->wait(kLong);
  EXPECT_NE(log.find('p'), std::string::npos) << log;
}

TEST_F(EventLoopTest, a_period_goes_on_until_it_is_dropped_and_does_not_make_up_for_lost_time) {
  int calls = 0;
  EventLoop::Watch watch;
  watch = loop->every(milliseconds(5), [&] {
    if (++calls == 3) watch.drop();
    std::this_thread::sleep_for(milliseconds(1));
  });
  while (watch) ASSERT_NE(loop->wait(kLong), 0);
  EXPECT_EQ(loop->wait(milliseconds(20)), 0);
  EXPECT_EQ(calls, 3);
  const auto late = loop->every(milliseconds(1), write("l"));
  std::this_thread::sleep_for(milliseconds(30));
  loop->wait(kLong);
  EXPECT_EQ(log, "l");
}

TEST_F(EventLoopTest, the_end_of_a_process_is_told_once) {
  Pipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    char c;
    pipe.to.reset();
    (void)!::read(pipe.from.get(), &c, 1);  // until the pipe is closed
    ::_exit(0);
  }
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto watch = *loop->on_end(pidfd.get(), write("e"));
  EXPECT_EQ(loop->wait(milliseconds(1)), 0);
  pipe.to.reset();
  EXPECT_EQ(loop->wait(kLong), 1);
  EXPECT_EQ(loop->wait(milliseconds(1)), 0) << "a pidfd stays readable";
  EXPECT_FALSE(watch);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(EventLoopTest, signals_call_back_with_who_sent_them) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals, &before), 0);
  std::vector<uint32_t> numbers;
  {
    const auto watch = *loop->on_signals(signals, [&](const signalfd_siginfo& info) {
      numbers.push_back(info.ssi_signo);
      EXPECT_EQ(info.ssi_pid, static_cast<uint32_t>(::getpid()));
    });
    ::kill(::getpid(), SIGUSR1);
    ::kill(::getpid(), SIGUSR2);
    while (numbers.size() < 2) ASSERT_NE(loop->wait(kLong), 0);
  }
  EXPECT_THAT(numbers, ElementsAre(SIGUSR1, SIGUSR2));
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST_F(EventLoopTest, what_other_threads_post_runs_here_each_once_and_in_order) {
  constexpr int kThreads = 4, kEach = 500;
  std::array<int, kThreads> next{};
  int total = 0;
  bool in_order = true;
  const std::thread::id here = std::this_thread::get_id();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        loop->post([&, t, i] {
          in_order = in_order && next[t]++ == i && std::this_thread::get_id() == here;
          ++total;
        });
    });
  while (total < kThreads * kEach) loop->wait(kLong);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(loop->wait(milliseconds(0)), 0);
}

TEST_F(EventLoopTest, what_a_posted_callback_posts_runs_in_the_next_wait) {
  loop->post([&] {
    log += "a";
    loop->post(write("b"));
  });
  EXPECT_EQ(loop->wait(kLong), 1);
  EXPECT_EQ(log, "a");
  EXPECT_EQ(loop->wait(kLong), 1);
  EXPECT_EQ(log, "ab");
}

TEST_F(EventLoopTest, wake_ends_one_wait_of_now_or_later) {
  loop->wake();
  const auto begin = EventLoop::Clock::now();
  EXPECT_EQ(loop->wait(kLong), 0);
  std::atomic<bool> asleep = false;
  std::thread other([&] {
    while (!asleep) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(5));
    loop->wake();
  });
  asleep = true;
  EXPECT_EQ(loop->wait(kLong), 0);
  EXPECT_LT(EventLoop::Clock::now() - begin, kLong);
  other.join();
  EXPECT_EQ(loop->wait(milliseconds(0)), 0);
}

EventLoop* woken_by_signal;

TEST_F(EventLoopTest, a_signal_handler_may_wake_it) {
  woken_by_signal = loop.get();
  struct sigaction before, action{};
  action.sa_handler = [](int) { woken_by_signal->wake(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  errno = ENOENT;
  ::raise(SIGUSR1);
  EXPECT_EQ(errno, ENOENT);
  const auto begin = EventLoop::Clock::now();
  EXPECT_EQ(loop->wait(kLong), 0);
  EXPECT_LT(EventLoop::Clock::now() - begin, kLong);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(EventLoopTest, what_cannot_be_watched_is_an_error) {
  EXPECT_FALSE(loop->on_readable(-1, write("a")));
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(loop->on_readable(file.get(), write("a")));
}

}  // namespace
}  // namespace blip
