// SPDX-License-Identifier: MIT
#include "cli/show/coverage_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::cli {
namespace {

using session::PatchStep;
using testing::EndsWith;
using testing::HasSubstr;

session::InstructionCoverage some() {
  return {.functions = 2,
          .total = 1000,
          .steps = {{PatchStep::kNop5, 10}, {PatchStep::kPun, 980}, {PatchStep::kTrap, 5}},
          .reasons = {{"rare", 1}, {"common", 4}},
          .refused = {{"f+0x4", 0x1234, "m", "a \"reason\" at 0x5"}}};
}

TEST(CoverageTable, shows_steps_sums_and_reasons) {
  const std::string table = coverage_table(some(), false);
  EXPECT_THAT(table, HasSubstr("0x000000001234  m  f+0x4  # a \"reason\" at 0x5\n"));
  EXPECT_THAT(table, HasSubstr("nop5                        10    1.00 %\n"));
  EXPECT_THAT(table, HasSubstr("evict-neighbour              0    0.00 %\n"));
  EXPECT_THAT(table, HasSubstr("jump                       990   99.00 %\n"));
  EXPECT_THAT(table, HasSubstr("refused                      5    0.50 %\n"));
  EXPECT_LT(table.find("4  common"), table.find("1  rare"));
}

TEST(CoverageTable, json_ends_with_all_numbers) {
  const std::string json = coverage_json(some());
  EXPECT_THAT(json, HasSubstr("{\"v\":1,\"kind\":\"refused\",\"place\":\"f+0x4\",\"address\":4660,\"module\":"
                              "\"m\",\"refused\":\"a "
                              "\\\"reason\\\" at 0x5\"}\n"
                              "{\"v\":1,\"kind\":\"coverage\",\"total\":1000,\"jump\":990,\"trap\":5,"
                              "\"refused\":5,\"functions\":2,\"steps\":{"
                              "\"nop5\":10,\"insn\":0,"));
  EXPECT_THAT(json, EndsWith("\"reasons\":{\"common\":4,\"rare\":1}}\n"));
}

TEST(CoverageTable, the_summary_is_one_line) {
  EXPECT_EQ(
      coverage_summary(some()),
      "1000 instructions of 2 functions: 990 can be probed by a jump (99.00 %), 5 by a trap, 5 refused");
  EXPECT_EQ(coverage_summary({}),
            "0 instructions of 0 functions: 0 can be probed by a jump (0.00 %), 0 refused");
}

}  // namespace
}  // namespace blip::cli
