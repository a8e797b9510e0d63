// SPDX-License-Identifier: MIT
// Telling blip of libraries, as the pad at the loader's hook does; a thread of the test plays blip.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "ring/test_region.h"
#include "runtime/test_blob.h"

namespace blip::runtime {
namespace {

constexpr int32_t kPid = 77;

class Libraries : public testing::Test {
 protected:
  Libraries() : region_({.ring_count = 1, .class_count = 3}) { word().pid = region_.gate()->pid = kPid; }

  abi::LibraryWord& word() { return region_.header()->libraries; }

  void tell(uint64_t may_call = 1) {
    uint64_t rax = may_call;
    auto rcx = reinterpret_cast<uint64_t>(region_.region());
    asm volatile("call *%[code]"
                 : "+a"(rax), "+c"(rcx)
                 : [code] "r"(code_.data() + kTellLibrariesOffset)
                 : "rdx", "memory", "cc");
  }

  static long futex(uint32_t* at, int operation, uint32_t value) {
    return ::syscall(SYS_futex, at, operation, value, nullptr, nullptr, 0);
  }
  void wait_for_change(uint32_t last) {
    while (__atomic_load_n(&word().changes, __ATOMIC_ACQUIRE) == last)
      futex(&word().changes, FUTEX_WAIT, last);
  }
  void look() {
    __atomic_store_n(&word().looked, word().changes, __ATOMIC_RELEASE);
    futex(&word().looked, FUTEX_WAKE, INT32_MAX);
  }

  ring::TestRegion region_;
  Mapping code_ = callable_blob();
};

TEST_F(Libraries, a_change_is_counted_and_nobody_waits_who_is_not_held) {
  tell();
  tell();
  EXPECT_EQ(word().changes, 2u);
  EXPECT_EQ(word().elsewhere, 0u);
}

TEST_F(Libraries, a_child_of_a_fork_does_not_wait) {
  word().hold = 1;
  for (int32_t pid : {0, kPid + 1}) {  // its gate page is wiped; then it has its own pid
    region_.gate()->pid = pid;
    tell();
  }
  EXPECT_EQ(word().changes, 0u);
  EXPECT_EQ(word().elsewhere, 2u);
  EXPECT_EQ(word().hold, 1u);
}

TEST_F(Libraries, no_system_call_where_there_may_be_none) {
  word().hold = 1;
  tell(0);
  EXPECT_EQ(word().changes, 1u);
  EXPECT_EQ(word().hold, 1u) << "it would have been in vain";
}

TEST_F(Libraries, it_waits_until_blip_has_looked_whatever_signals_come) {
  static int handled;
  struct sigaction action = {};
  action.sa_handler = [](int) { ++handled; };  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  word().hold = 1;
  const pthread_t target = ::pthread_self();
  bool was_waiting = true;
  std::thread blip([&] {
    wait_for_change(0);
    __atomic_store_n(&word().seen, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 20; ++i) {
      ::pthread_kill(target, SIGUSR1);
      ::usleep(1000);
    }
    was_waiting = word().hold == 1;
    look();
  });
  errno = 4711;
  tell();
  EXPECT_EQ(errno, 4711);
  EXPECT_EQ(word().looked, 1u);
  blip.join();
  EXPECT_TRUE(was_waiting);
  EXPECT_EQ(word().hold, 1u);
  EXPECT_GT(handled, 0);
}

TEST_F(Libraries, who_waited_in_vain_does_not_wait_again) {
  word().hold = 1;
  tell();
  EXPECT_EQ(word().hold, 0u);
  tell();
  EXPECT_EQ(word().changes, 2u);
}

}  // namespace
}  // namespace blip::runtime
