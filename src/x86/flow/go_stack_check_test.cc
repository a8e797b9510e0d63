// SPDX-License-Identifier: MIT
#include "x86/flow/go_stack_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

using test::bytes;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* code;
  int length;  // 0: no check
  int replaceable;
};

class StackCheck : public ::testing::TestWithParam<Case> {};

TEST_P(StackCheck, is_found) {
  const auto check = go_stack_check(bytes(GetParam().code));
  ASSERT_EQ(check.has_value(), GetParam().length != 0);
  if (!check) return;
  EXPECT_EQ(check->length, GetParam().length);
  EXPECT_EQ(check->replaceable, GetParam().replaceable);
}

const Case kCases[] = {
    {"small_frame", "49 3b 66 10 76 20 48 83 ec 18", 6, 6},
    {"small_frame_far_jump", "49 3b 66 10 0f 86 20 01 00 00 48 83 ec 18", 10, 10},
    {"system_stack", "49 3b 66 18 76 20 48 83 ec 18", 6, 6},
    {"large_frame", "4c 8d 64 24 88 4d 3b 66 10 76 20 90", 11, 5},
    {"larger_frame", "4c 8d a4 24 70 fe ff ff 4d 3b 66 10 0f 86 20 01 00 00", 18, 8},
    {"go_1_17", "4c 8d 6c 24 88 4d 3b 6e 10 76 20", 11, 5},
    {"assembly", "64 48 8b 0c 25 f8 ff ff ff 48 3b 61 10 76 20", 15, 9},
    {"assembly_large_frame", "64 48 8b 0c 25 f8 ff ff ff 48 8d 44 24 e8 48 3b 41 10 76 20", 20, 9},
    {"no_check", "48 83 ec 18 48 89 6c 24 10", 0, 0},
    {"another_comparison", "49 3b 66 20 76 20", 0, 0},
    {"another_branch", "49 3b 66 10 74 20", 0, 0},
    {"cut_before_the_jump", "49 3b 66 10", 0, 0},
    {"cut_inside_the_jump", "49 3b 66 10 0f 86 20 01", 0, 0},
    {"empty", "", 0, 0},
};
INSTANTIATE_TEST_SUITE_P(Cases, StackCheck, ::testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace blip::x86
