// SPDX-License-Identifier: MIT
#include "x86/flow/stack_pointer.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

bool calculates(std::string_view text) { return calculates_with_rsp(test::bytes(text)); }

TEST(StackPointer, frames_are_stacks) {
  EXPECT_FALSE(
      calculates("55 48 89 e5 48 83 ec 10 c9 c3"));     // push rbp; mov rsp, rbp; sub $16, rsp; leave; ret
  EXPECT_FALSE(calculates("c8 10 00 00 c9 c2 08 00"));  // enter $16, $0; leave; ret $8
  EXPECT_FALSE(calculates("48 83 c4 10 48 8d 65 d8"));  // add $16, rsp; lea -40(rbp), rsp
  EXPECT_FALSE(calculates("48 83 e4 e0 49 8d 62 f8"));  // and $-32, rsp; lea -8(r10), rsp
  EXPECT_FALSE(calculates("48 29 c4 48 01 cc"));        // sub rax, rsp; add rcx, rsp: alloca
  EXPECT_FALSE(calculates("48 2b 25 00 01 00 00"));     // sub 0x100(rip), rsp: the loader, for xsave
  EXPECT_FALSE(calculates("48 8d a4 0c 00 ff ff ff"));  // lea -256(rsp,rcx), rsp
}

TEST(StackPointer, another_stack_is_one_too) {
  EXPECT_FALSE(calculates("48 89 fc"));              // mov rdi, rsp
  EXPECT_FALSE(calculates("48 8b a2 a0 00 00 00"));  // mov 160(rdx), rsp
  EXPECT_FALSE(calculates("5c"));                    // pop rsp
  EXPECT_FALSE(calculates("48 8d 26"));              // lea (rsi), rsp
}

TEST(StackPointer, what_only_looks_at_it_does_not_count) {
  EXPECT_FALSE(calculates("48 0f af c4 48 31 e0"));           // imul rsp, rax; xor rsp, rax
  EXPECT_FALSE(calculates("48 39 c4 48 f7 c4 0f 00 00 00"));  // cmp rax, rsp; test $15, rsp
  EXPECT_FALSE(calculates("48 83 0c 24 00 48 f7 1c 24"));     // orq $0, (rsp); negq (rsp)
  EXPECT_FALSE(calculates("66 48 0f 6e c4"));                 // movq rsp, xmm0
}

// Big-number code walks down page by page like this to a frame that it has calculated.
TEST(StackPointer, an_index_added_to_what_came_from_rsp) {
  EXPECT_FALSE(
      calculates("49 89 e3 4c 8d 54 24 80 4d 29 d3 4b 8d 24 1a"));  // mov rsp, r11; lea -128(rsp), r10;
                                                                    // sub r10, r11; lea (r10,r11), rsp
  // jmp 1f; 0: lea (r10,rax), rsp; ret; 1: mov r11, r10; jmp 0b, and before it all: 2: mov rsp, r11; jmp 1b
  EXPECT_FALSE(calculates("49 8d 24 02 c3 4d 89 da eb f6 49 89 e3 eb f6"));
  EXPECT_TRUE(calculates("48 8d 24 37"));           // lea (rdi,rsi), rsp
  EXPECT_TRUE(calculates("49 89 e3 48 8d 24 37"));  // mov rsp, r11; lea (rdi,rsi), rsp
}

TEST(StackPointer, exchanged_with_what_came_from_rsp) {
  EXPECT_FALSE(
      calculates("4c 8d 7c 24 80 49 83 e7 c0 4c 87 fc"));  // lea -128(rsp), r15; and $-64, r15; xchg r15, rsp
  EXPECT_TRUE(calculates("4c 87 fc"));
  EXPECT_TRUE(calculates("48 87 27"));  // xchg (rdi), rsp
}

TEST(StackPointer, calculations) {
  EXPECT_TRUE(calculates("48 0f af e7"));           // imul rdi, rsp
  EXPECT_TRUE(calculates("48 31 fc"));              // xor rdi, rsp
  EXPECT_TRUE(calculates("48 83 cc 01"));           // or $1, rsp
  EXPECT_TRUE(calculates("48 c1 e4 04"));           // shl $4, rsp
  EXPECT_TRUE(calculates("48 11 fc"));              // adc rdi, rsp
  EXPECT_TRUE(calculates("48 f7 d4"));              // not rsp
  EXPECT_TRUE(calculates("48 ff cc"));              // dec rsp
  EXPECT_TRUE(calculates("48 94"));                 // xchg rax, rsp
  EXPECT_TRUE(calculates("48 83 e4 07"));           // and $7, rsp
  EXPECT_TRUE(calculates("48 c7 c4 00 01 00 00"));  // mov $256, rsp
  EXPECT_TRUE(calculates("83 ec 01"));              // sub $1, esp
  EXPECT_TRUE(calculates("66 48 0f 7e c4"));        // movq xmm0, rsp: the way back
  EXPECT_TRUE(calculates("c4 e2 f3 f5 e2"));        // pdep rdx, rcx, rsp
}

TEST(StackPointer, bytes_that_are_no_instruction_are_skipped) {
  EXPECT_FALSE(calculates("06 06 c3"));
  EXPECT_TRUE(calculates("06 48 31 fc"));
}

}  // namespace
}  // namespace blip::x86
