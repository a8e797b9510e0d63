// SPDX-License-Identifier: MIT
#include "proc/user_faults.h"

#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

namespace blip::proc {
namespace {

TEST(UserFaults, are_seen_by_their_descriptor) {
  EXPECT_FALSE(has_user_faults(::getpid()));
  const Fd fd(static_cast<int>(::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY)));
  if (fd.get() < 0) GTEST_SKIP() << "no userfaultfd here";
  EXPECT_TRUE(has_user_faults(::getpid()));
}

}  // namespace
}  // namespace blip::proc
