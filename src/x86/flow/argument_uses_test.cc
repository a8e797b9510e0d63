// SPDX-License-Identifier: MIT
#include "x86/flow/argument_uses.h"

#include <gtest/gtest.h>

#include <string>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

// "7 6 x0": general registers, then vector registers.
std::string uses(std::string_view text, const ArgumentUses& at_return = {}) {
  const ArgumentUses found = argument_uses(test::bytes(text), at_return);
  std::string result;
  for (unsigned i = 0; i < 16; ++i)
    if (found.general >> i & 1 && i != 4) result += (result.empty() ? "" : " ") + std::to_string(i);
  for (unsigned i = 0; i < 16; ++i)
    if (found.vectors >> i & 1) result += (result.empty() ? "x" : " x") + std::to_string(i);
  return result;
}

TEST(ArgumentUses, what_is_read_before_it_is_written) {
  EXPECT_EQ(uses("89 f8 01 f0 c3"), "6 7");        // mov eax, edi; add eax, esi; ret
  EXPECT_EQ(uses("31 ff 89 f8 c3"), "");           // xor edi, edi; mov eax, edi
  EXPECT_EQ(uses("bf 01 00 00 00 89 f8 c3"), "");  // mov edi, 1; mov eax, edi
  EXPECT_EQ(uses("48 8b 04 f7 c3"), "6 7");        // mov rax, [rdi + 8 * rsi]
  EXPECT_EQ(uses("40 b7 01 89 f8 c3"), "7");       // mov dil, 1; mov eax, edi: the rest is the caller's
  EXPECT_EQ(uses("f2 0f 58 c1 c3"), "x0 x1");      // addsd xmm0, xmm1
}

TEST(ArgumentUses, what_does_not_matter_to_the_result) {
  EXPECT_EQ(uses("f2 0f 2a c7 c3"), "7");               // cvtsi2sd xmm0, edi keeps the rest of xmm0
  EXPECT_EQ(uses("66 0f ef c0 f2 0f 58 c1 c3"), "x1");  // pxor xmm0, xmm0; addsd xmm0, xmm1
  EXPECT_EQ(uses("0f 1f 04 37 8b ff c3"), "");          // nop [rdi + rsi]; mov edi, edi
  EXPECT_EQ(uses("19 ff 83 ce ff c3"), "");             // sbb edi, edi; or esi, -1
}

TEST(ArgumentUses, results_behind_a_call) {
  EXPECT_EQ(uses("48 89 03 c3"), "0 3");  // mov [rbx], rax
  EXPECT_EQ(uses("50 31 c0 58 c3"), "");  // push rax; xor eax, eax; pop rax: room on the stack
  EXPECT_EQ(uses("c3"), "");              // ret
  EXPECT_EQ(uses("c3", {1, 1}), "0 x0");
  EXPECT_EQ(uses("31 c0 c3", {1, 0}), "");        // xor eax, eax; ret
  EXPECT_EQ(uses("48 89 d8 c3", {5, 0}), "2 3");  // mov rax, rbx; ret
}

TEST(ArgumentUses, the_widest_vector) {
  const auto widest = [](std::string_view text) { return widest_vector(test::bytes(text)); };
  EXPECT_EQ(widest("89 f8 c3"), 0U);
  EXPECT_EQ(widest("f2 0f 58 c1 c3"), 16U);              // addsd xmm0, xmm1
  EXPECT_EQ(widest("c5 fc 29 44 24 c8 c3"), 32U);        // vmovaps [rsp - 56], ymm0
  EXPECT_EQ(widest("62 f1 7c 48 29 44 24 fe c3"), 64U);  // vmovaps [rsp - 128], zmm0
}

TEST(ArgumentUses, on_both_ways_and_not_behind_a_call) {
  // test edi, edi; je +3; mov eax, esi; ret; mov eax, edx; ret
  EXPECT_EQ(uses("85 ff 74 03 89 f0 c3 89 d0 c3"), "2 6 7");
  // call +0; mov eax, edi
  EXPECT_EQ(uses("e8 00 00 00 00 89 f8 c3"), "");
  // jmp +2; (mov eax, edi); mov eax, esi
  EXPECT_EQ(uses("eb 02 89 f8 89 f0 c3"), "6");
  // a loop that has no end
  EXPECT_EQ(uses("01 f8 eb fc"), "0 7");
}

}  // namespace
}  // namespace blip::x86
