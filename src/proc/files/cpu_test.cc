// SPDX-License-Identifier: MIT
#include "proc/files/cpu.h"

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

TEST(Cpu, named_by_proc_stat) {
  EXPECT_THAT(*parse_cpus_of_stat("cpu  9 9\ncpu0 1 2\ncpu2 3 4\nintr 5 cpu7\n"), ElementsAre(0, 2));
  EXPECT_THAT(*parse_cpus_of_stat("cpu  9 9\ncpu11 1 2"), ElementsAre(11));
}

TEST(Cpu, proc_stat_without_a_cpu) {
  for (const char* text : {"", "\n", "cpu  9 9\n", "intr 5\n", "cpux\n"})
    EXPECT_FALSE(parse_cpus_of_stat(text)) << text;
}

TEST(Cpu, this_machine) {
  ASSERT_TRUE(possible_cpus());
  ASSERT_TRUE(online_cpus());
  EXPECT_EQ(online_cpus()->size(), static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_LT(online_cpus()->back(), *possible_cpus());
}

}  // namespace
}  // namespace blip::proc
