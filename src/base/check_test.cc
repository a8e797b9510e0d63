// SPDX-License-Identifier: MIT
#include "base/check.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace blip {
namespace {

using Restorers = std::vector<std::function<Status()>>;

const testing::KilledBySignal kAborted(SIGABRT);

void fail() { CHECK(1 + 1 == 3); }

// In the child of a death test, which has no restorers of its parent's.
[[noreturn]] void fail_with(const Restorers& restorers) {
  std::vector<std::unique_ptr<FailureRestorer>> all;
  for (const auto& restore : restorers) all.push_back(std::make_unique<FailureRestorer>(restore));
  fail();
  ::_exit(0);
}

std::function<Status()> writes(const char* text) {
  return [text]() -> Status {
    std::fputs(text, stderr);
    return {};
  };
}

TEST(CheckDeathTest, names_the_condition_and_aborts) {
  EXPECT_EXIT(fail(), kAborted, "internal error at .*check_test.cc:[0-9]+: 1 \\+ 1 == 3 does not hold\n$");
}

TEST(CheckDeathTest, restorers_work_before_the_end_the_newest_first) {
  EXPECT_EXIT(fail_with({writes("<old>"), writes("<new>")}), kAborted, "does not hold\n<new><old>$");
}

TEST(CheckDeathTest, a_child_of_a_fork_restores_nothing) {
  const FailureRestorer of_the_parent(writes("<parent>"));
  EXPECT_EXIT(fail(), kAborted, "does not hold\n$");
}

TEST(CheckDeathTest, a_restorer_that_fails_is_called_again) {
  const auto fails_twice = [n = 0]() mutable -> Status {
    std::fprintf(stderr, "<%d>", n);
    return n++ < 2 ? Status(Error(ErrorKind::kBusy, "not now")) : Status();
  };
  EXPECT_EXIT(fail_with({fails_twice}), kAborted, "<0><1><2>$");
}

TEST(CheckDeathTest, a_restorer_that_never_ends_is_not_waited_for) {
  const auto hangs = []() -> Status {
    for (;;) ::pause();
  };
  EXPECT_EXIT(fail_with({hangs}), kAborted, "does not hold\n$");
}

TEST(CheckDeathTest, a_check_that_fails_in_a_restorer_does_not_start_over) {
  const auto fails_itself = []() -> Status {
    fail();
    return {};
  };
  EXPECT_EXIT(fail_with({fails_itself}), kAborted, "^(.*does not hold\n){2}$");
}

[[noreturn]] void fail_in_ending_thread() {
  std::thread failing;
  const FailureRestorer joins([&]() -> Status {
    failing.join();
    std::fputs("<joined>", stderr);
    return {};
  });
  failing = std::thread([] {
    end_thread_on_check_failure();
    fail();
  });
  wait_for_abort();
}

TEST(CheckDeathTest, a_thread_that_asked_for_it_ends_at_once) {
  EXPECT_EXIT(fail_in_ending_thread(), kAborted, "<joined>$");
}

}  // namespace
}  // namespace blip
