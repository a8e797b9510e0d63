// SPDX-License-Identifier: MIT
#include "x86/instruction_text.h"

#include <gtest/gtest.h>

namespace blip::x86 {
namespace {

std::string text(std::initializer_list<uint8_t> bytes) {
  return instruction_text(std::vector<uint8_t>(bytes), TargetAddr(0x1000));
}

TEST(InstructionText, as_objdump_writes_it) {
  EXPECT_EQ(text({0x48, 0x89, 0xe5}), "mov %rsp, %rbp");
  EXPECT_EQ(text({0xe8, 0x0b, 0, 0, 0}), "call 0x0000000000001010");
  EXPECT_EQ(text({0xc3, 0x90}), "ret");
}

TEST(InstructionText, what_is_none_has_none) {
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({0x06}), "");
  EXPECT_EQ(text({0xe8, 0x0b}), "");
}

}  // namespace
}  // namespace blip::x86
