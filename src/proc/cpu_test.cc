// SPDX-License-Identifier: MIT
#include "proc/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace blip::proc {
namespace {

using testing::ElementsAre;

TEST(Cpu, lists_as_the_kernel_writes_them) {
  EXPECT_THAT(*parse_cpu_list("0\n"), ElementsAre(0));
  EXPECT_THAT(*parse_cpu_list("0-2,5,7-8\n"), ElementsAre(0, 1, 2, 5, 7, 8));
}

TEST(Cpu, malformed_lists) {
  for (const char* text : {"", "\n", "a", "1-", "3-1", "1;2", "0-99999999", "-1", "1 2"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
}

TEST(Cpu, this_machine) {
  ASSERT_TRUE(possible_cpus());
  ASSERT_TRUE(online_cpus());
  EXPECT_EQ(online_cpus()->size(), static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_LT(online_cpus()->back(), *possible_cpus());
}

}  // namespace
}  // namespace blip::proc
