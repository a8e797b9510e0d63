// SPDX-License-Identifier: MIT
// A thread of the test plays the target; `make tsan` runs this under the thread sanitizer.
#include "session/watch/loader_watch.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace blip::session {
namespace {

constexpr int32_t kPid = 77;
constexpr int kForever = -1;

// As the runtime does it: a change is told, then it waits for the look.
void load_library(abi::LibraryWord& word) {
  const uint32_t mine = __atomic_add_fetch(&word.changes, 1, __ATOMIC_ACQ_REL);
  if (!__atomic_load_n(&word.hold, __ATOMIC_ACQUIRE)) return;
  ::syscall(SYS_futex, &word.changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  for (uint32_t now;
       static_cast<int32_t>((now = __atomic_load_n(&word.looked, __ATOMIC_ACQUIRE)) - mine) < 0;)
    ::syscall(SYS_futex, &word.looked, FUTEX_WAIT, now, nullptr, nullptr, 0);
}

bool is_readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

TEST(LoaderWatch, every_change_is_told_and_waits_for_the_look) {
  constexpr uint32_t kLibraries = 1000;
  abi::LibraryWord word{};
  LoaderWatch watch(word, kPid);
  EXPECT_TRUE(watch.holds());
  EXPECT_EQ(watch.change(), std::nullopt);
  std::thread target([&] {
    for (uint32_t i = 0; i < kLibraries; ++i) load_library(word);
  });
  // One after the other: each waits for its look.
  for (uint32_t looks = 0; looks < kLibraries;) {
    ASSERT_TRUE(is_readable(watch.fd(), kForever));
    const auto change = watch.change();
    if (!change) continue;  // told twice
    EXPECT_EQ(*change, ++looks);
    watch.looked(*change);
  }
  target.join();
  EXPECT_EQ(watch.change(), std::nullopt);
}

TEST(LoaderWatch, who_waits_when_blip_goes_is_let_go) {
  abi::LibraryWord word{};
  std::thread target;
  {
    LoaderWatch watch(word, kPid);
    target = std::thread([&] { load_library(word); });
    EXPECT_TRUE(is_readable(watch.fd(), kForever));
  }
  target.join();
  EXPECT_EQ(word.hold, 0u);
}

TEST(LoaderWatch, changes_all_the_time_while_blips_come_and_go) {
  abi::LibraryWord word{};
  std::atomic<bool> stop = false;
  std::thread target([&] {
    while (!stop) load_library(word);
  });
  for (int i = 0; i < 200; ++i) {
    LoaderWatch watch(word, kPid);
    if (const auto change = watch.change()) watch.looked(*change);
  }
  stop = true;
  target.join();
}

}  // namespace
}  // namespace blip::session
