// SPDX-License-Identifier: MIT
#include "x86/general_registers.h"

#include <gtest/gtest.h>

#include <vector>

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x1000);

bool only_general(std::vector<uint8_t> code) { return uses_general_registers_only(code, kBase, kBase); }

TEST(GeneralRegisters, plain_code) {
  EXPECT_TRUE(only_general({0x48, 0x89, 0xf8, 0xc3}));              // mov %rdi,%rax; ret
  EXPECT_TRUE(only_general({0x0f, 0x05, 0xc3}));                    // syscall; ret
  EXPECT_TRUE(only_general({0x0f, 0xae, 0xe8, 0x0f, 0x31, 0xc3}));  // lfence; rdtsc; ret
  EXPECT_TRUE(only_general({0xeb, 0xfe}));                          // jmp to itself
  EXPECT_TRUE(only_general({0xc3, 0x66, 0x0f, 0x6f, 0xc1}));        // ret; movdqa, not reached
}

TEST(GeneralRegisters, vector_code) {
  EXPECT_FALSE(only_general({0x66, 0x0f, 0x6f, 0xc1, 0xc3}));        // movdqa %xmm1,%xmm0
  EXPECT_FALSE(only_general({0xc5, 0xf8, 0x77, 0xc3}));              // vzeroupper
  EXPECT_FALSE(only_general({0xdb, 0xe3, 0xc3}));                    // fninit
  EXPECT_FALSE(only_general({0x0f, 0x77, 0xc3}));                    // emms
  EXPECT_FALSE(only_general({0x0f, 0xae, 0x20, 0xc3}));              // xsave (%rax)
  EXPECT_FALSE(only_general({0x0f, 0xae, 0x00, 0xc3}));              // fxsave (%rax)
  EXPECT_FALSE(only_general({0xf3, 0x48, 0x0f, 0x2a, 0xc0, 0xc3}));  // cvtsi2ss %rax,%xmm0
}

TEST(GeneralRegisters, behind_branches_and_calls) {
  EXPECT_FALSE(only_general({0x74, 0x01, 0xc3, 0x0f, 0x77, 0xc3}));                    // je to emms
  EXPECT_FALSE(only_general({0xe8, 0x01, 0x00, 0x00, 0x00, 0xc3, 0x0f, 0x77, 0xc3}));  // call of emms
  EXPECT_FALSE(only_general({0xe8, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x77, 0xc3}));        // after a call
}

TEST(GeneralRegisters, what_cannot_be_followed) {
  EXPECT_FALSE(only_general({0xff, 0xe0}));        // jmp *%rax
  EXPECT_FALSE(only_general({0xff, 0xd0, 0xc3}));  // call *%rax
  EXPECT_FALSE(only_general({0xeb, 0x10}));        // out of the code
  EXPECT_FALSE(only_general({0x48, 0x89, 0xf8}));  // runs off the end
  EXPECT_FALSE(only_general({0x06}));              // no instruction
  EXPECT_FALSE(only_general({}));
}

}  // namespace
}  // namespace blip::x86
