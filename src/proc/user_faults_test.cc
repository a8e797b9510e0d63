// SPDX-License-Identifier: MIT
#include "proc/user_faults.h"

#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "proc/test_child.h"

namespace blip::proc {
namespace {

TEST(UserFaults, are_seen_by_their_descriptor) {
  EXPECT_FALSE(has_user_faults(::getpid()));
  const Fd fd(static_cast<int>(::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY)));
  if (fd.get() < 0) GTEST_SKIP() << "no userfaultfd here";
  EXPECT_TRUE(has_user_faults(::getpid()));
}

// /proc shows no files of a first thread that has ended.
TEST(UserFaults, of_a_process_without_its_first_thread) {
  test::Child child([](test::Child& self) {
    self.tell(::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
    std::thread([] { test::nap(1'000'000); }).detach();
    ::syscall(SYS_exit, 0);
  });
  if (child.hear().value_or(-1) < 0) GTEST_SKIP() << "no userfaultfd here";
  ASSERT_TRUE(child.wait_for_state('Z'));
  EXPECT_TRUE(has_user_faults(child.pid()));
}

}  // namespace
}  // namespace blip::proc
