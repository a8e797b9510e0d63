// SPDX-License-Identifier: MIT
#include "x86/flow/stack_effect.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

std::optional<int64_t> change(std::string_view text) { return rsp_change(stack_effect(test::bytes(text))); }

TEST(StackEffect, how_far_an_instruction_moves_rsp) {
  EXPECT_EQ(change("5d"), 8);                      // pop rbp
  EXPECT_EQ(change("41 57"), -8);                  // push r15
  EXPECT_EQ(change("48 81 c4 60 01 00 00"), 352);  // add $0x160, rsp
  EXPECT_EQ(change("48 83 ec 10"), -16);           // sub $16, rsp
  EXPECT_EQ(change("48 8d 64 24 f8"), -8);         // lea -8(rsp), rsp
  EXPECT_EQ(change("31 c0"), 0);                   // xor eax, eax
  EXPECT_EQ(change("48 89 e5"), 0);                // mov rsp, rbp
  EXPECT_EQ(change("48 8b 45 f8"), 0);             // mov -8(rbp), rax
  EXPECT_EQ(change("48 8d 65 d8"), std::nullopt);  // lea -40(rbp), rsp
  EXPECT_EQ(change("48 83 e4 e0"), std::nullopt);  // and $-32, rsp
  EXPECT_EQ(change("c9"), std::nullopt);           // leave
  EXPECT_EQ(change("5c"), std::nullopt);           // pop rsp
  EXPECT_EQ(change("48 29 c4"), std::nullopt);     // sub rax, rsp
}

}  // namespace
}  // namespace blip::x86
