// SPDX-License-Identifier: MIT
#include "probe/inject/left_region.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "abi/layout.h"
#include "probe/inject/region.h"
#include "proc/files/status.h"

namespace blip::probe {
namespace {

abi::DataHeader owned_by(pid_t pid) {
  abi::DataHeader header{};
  header.owner_pid = pid;
  header.owner_pid_namespace = own_pid_namespace();
  const auto stat = proc::read_stat(pid, pid);
  header.owner_start_time = stat ? stat->start_time : 0;
  return header;
}

TEST(Owner, who_lives_keeps_it) {
  EXPECT_EQ(check_owner(owned_by(::getpid())).error().kind(), ErrorKind::kBusy);
  EXPECT_TRUE(check_owner(owned_by(999999999)));
  abi::DataHeader earlier = owned_by(::getpid());
  --earlier.owner_start_time;  // the pid was given to another process since
  EXPECT_TRUE(check_owner(earlier));
}

// Else the second blip takes the probes of the first away while it works.
TEST(Owner, one_that_cannot_be_looked_at_may_live) {
  const abi::DataHeader header = owned_by(::getpid());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status owner = check_owner(header);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(owner);
  EXPECT_EQ(owner.error().errno_value(), EMFILE);
}

}  // namespace
}  // namespace blip::probe
