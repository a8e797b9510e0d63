// SPDX-License-Identifier: MIT
#include "proc/filtered_sleep.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proc/attachment.h"
#include "proc/test_child.h"
#include "proc/test_filter.h"
#include "proc/tracer_thread.h"

namespace blip::proc::test {
namespace {

constexpr int kPollTimeout = 600'000;

Status stop_once(pid_t pid) {
  return on_tracer_thread([&]() -> Status {
    TRY(const Process process, Process::open(pid));
    TRY_OK(Attachment::stop_all(process));
    return {};
  });
}

int64_t milliseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// The number of the system call that the thread waits in; -1: it runs.
long waits_in(pid_t tid) {
  const auto text = read_proc_file(fmt::format("/proc/{}/syscall", tid));
  return text && std::isdigit(text->front()) ? std::stol(*text) : -1;
}

class FilteredSleep : public testing::Test {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "only root may suspend a filter";
  }
};

// Not the call from its beginning: the kernel knows how much of its time is left.
TEST_F(FilteredSleep, goes_on_for_the_rest_of_its_time) {
  Child child([](Child& self) {
    forbid_restarts(kPollTimeout);
    self.tell(0);
    self.tell(::poll(nullptr, 0, kPollTimeout));
  });
  ASSERT_TRUE(child.hear());
  ASSERT_TRUE(child.wait_for_state('S'));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(stop_once(child.pid()));
    ASSERT_TRUE(child.wait_for_state('S'));
    ASSERT_EQ(waits_in(child.pid()), SYS_restart_syscall);
  }
}

TEST_F(FilteredSleep, is_neither_cut_short_nor_failed_by_many_stops) {
  constexpr long kSleep = 400;
  Child child([](Child& self) {
    forbid_restarts(kPollTimeout);
    self.tell(0);
    for (;;) {
      const int64_t begin = milliseconds_now();
      const timespec time{0, kSleep * 1'000'000};
      if (::nanosleep(&time, nullptr) != 0) self.tell(-errno);
      self.tell(milliseconds_now() - begin);
    }
  });
  ASSERT_TRUE(child.hear());
  for (int sleeps = 0; sleeps < 3; ++sleeps) {
    std::optional<int64_t> slept;
    while (!slept) {
      ASSERT_TRUE(stop_once(child.pid()));
      slept = child.hear(5);
    }
    EXPECT_GE(*slept, kSleep);
  }
}

TEST_F(FilteredSleep, of_many_threads) {
  constexpr int kThreads = 20, kStops = 30;
  Child child([](Child& self) {
    forbid_restarts(kPollTimeout);
    static std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([i] {
        for (int n = 0; n < 40; ++n) {
          const timespec time{0, (1 + i % 7) * 5'000'000};
          if (::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) != 0) ++wrong;
        }
      });
    self.tell(0);
    for (std::thread& thread : threads) thread.join();
    self.tell(wrong);
    ::pause();
  });
  ASSERT_TRUE(child.hear());
  for (int i = 0; i < kStops; ++i) ASSERT_TRUE(stop_once(child.pid()));
  EXPECT_EQ(child.hear(60000), 0);
}

// EINTR is what the program's own handlers cause, and nothing else.
TEST_F(FilteredSleep, ends_with_eintr_by_a_handler_only) {
  Child child([](Child& self) {
    struct sigaction handled {};
    handled.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &handled, nullptr);
    forbid_restarts(kPollTimeout);
    self.tell(0);
    for (;;) {
      const int result = ::poll(nullptr, 0, kPollTimeout);
      self.tell(result == -1 ? -errno : result);
    }
  });
  ASSERT_TRUE(child.hear());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(child.wait_for_state('S'));
    std::thread sender([&] { child.kill(SIGUSR1); });
    const Status stopped = stop_once(child.pid());
    sender.join();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(child.hear(), -EINTR);
    EXPECT_FALSE(child.hear(0));
  }
}

// The stop of a thread that is traced sees signals that would not have reached it.
TEST_F(FilteredSleep, does_not_see_ignored_signals) {
  Child child([](Child& self) {
    forbid_restarts(kPollTimeout);
    self.tell(0);
    self.tell(::poll(nullptr, 0, kPollTimeout));
  });
  ASSERT_TRUE(child.hear());
  ASSERT_TRUE(child.wait_for_state('S'));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(on_tracer_thread([&]() -> Status {
      TRY(const Process process, Process::open(child.pid()));
      TRY(Attachment attachment, Attachment::stop_all(process));
      child.kill(SIGWINCH);  // reported when the thread is let go
      attachment.release();
      return {};
    }));
    ASSERT_TRUE(child.wait_for_state('S'));
  }
  EXPECT_FALSE(child.hear(0));
}

// Should blip die while it holds such a thread, the call is repeated.
TEST_F(FilteredSleep, is_repeated_if_blip_dies) {
  for (int round = 0; round < 2; ++round) {
    Child child([](Child& self) {
      forbid_restarts(kPollTimeout);
      self.tell(0);
      self.tell(::poll(nullptr, 0, kPollTimeout));
    });
    ASSERT_TRUE(child.hear());
    ASSERT_TRUE(child.wait_for_state('S'));
    for (int i = 0; i < round; ++i) ASSERT_TRUE(stop_once(child.pid()));  // it is restart_syscall then
    Child tracer([&](Child& self) {
      const auto process = Process::open(child.pid());
      const auto attachment = Attachment::stop_all(*process);
      self.tell(attachment ? 0 : 1);
      ::pause();
    });
    ASSERT_EQ(tracer.hear(), 0);
    tracer.kill(SIGKILL);
    tracer.wait();
    ASSERT_TRUE(child.wait_for_state('S'));
    EXPECT_EQ(waits_in(child.pid()), SYS_poll);
  }
}

}  // namespace
}  // namespace blip::proc::test
