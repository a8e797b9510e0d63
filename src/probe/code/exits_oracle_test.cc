// SPDX-License-Identifier: MIT
// Exits against the truth: programs run one instruction at a time. BLIP_ORACLE="STEPS PATH ARGUMENT..." runs
// another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <sstream>

#include "probe/code/test_exit_oracle.h"

namespace blip::probe {
namespace {

using testing::IsEmpty;

constexpr uint64_t kMostSteps = 2'000'000;
constexpr const char* kInput = "/proc/self/maps";  // text that every machine has

// Programs that run longer are stepped through no further than this.
uint64_t first_steps() {
  const char* steps = std::getenv("BLIP_ORACLE_STEPS");
  return steps ? std::strtoull(steps, nullptr, 10) : 400'000;
}

class ExitsOfTarget : public testing::TestWithParam<const char*> {};

TEST_P(ExitsOfTarget, every_call_leaves_by_one_exit) {
  ExitOracle oracle;
  oracle.run({std::string(BLIP_TEST_TARGET_DIR) + "/" + GetParam()}, "/dev/null", kMostSteps);
  EXPECT_THAT(oracle.violations, IsEmpty());
  EXPECT_LT(oracle.steps, kMostSteps);
  EXPECT_GT(oracle.returned, 3000u);
  EXPECT_GT(oracle.tail_jumped, 100u);
}

INSTANTIATE_TEST_SUITE_P(All, ExitsOfTarget,
                         testing::Values("exits", "exits_O0", "exits_Os", "exits_nopie", "exits_stripped",
                                         "exits_stripped_nopie", "exits_without_tables",
                                         "exits_with_frame_pointers"));

class ExitsOfProgram : public testing::TestWithParam<std::vector<std::string>> {};

// The C library and the loader as the distribution ships them.
TEST_P(ExitsOfProgram, every_call_leaves_by_one_exit) {
  if (::access(GetParam()[0].c_str(), X_OK) != 0) GTEST_SKIP() << GetParam()[0] << " is not there";
  ExitOracle oracle;
  oracle.run(GetParam(), kInput, first_steps());
  EXPECT_THAT(oracle.violations, IsEmpty());
  EXPECT_GT(oracle.returned, 1000u);
}

std::vector<std::vector<std::string>> programs() {
  std::vector<std::vector<std::string>> all{
      {"/bin/gzip", "-c"}, {"/usr/bin/sort", "-r"}, {"/bin/sed", "s/\\(r.x\\)p/<\\1>/g"}};
  if (const char* command = std::getenv("BLIP_ORACLE")) {
    std::istringstream words(command);
    all.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ExitsOfProgram, testing::ValuesIn(programs()));

}  // namespace
}  // namespace blip::probe
