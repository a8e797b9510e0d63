// SPDX-License-Identifier: MIT
#include "x86/stay_ahead.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

bool stays(std::string_view hex, const Shown& shown) {
  const auto code = test::bytes(hex);
  const auto insn = decode(code, TargetAddr(0x401000));
  EXPECT_TRUE(insn) << hex;
  return insn && may_stay_ahead(*insn, shown);
}

constexpr uint16_t kRax = 1 << 0, kRdi = 1 << 7;

TEST(StayAhead, only_what_the_program_does_not_show_may_change) {
  const Shown registers{.registers = kRdi, .vectors = false, .memory = false};
  const Shown vectors{.registers = 0, .vectors = true, .memory = false};
  const Shown memory{.registers = 0, .vectors = false, .memory = true};
  const struct {
    const char* hex;
    bool nothing, registers, vectors, memory;
  } cases[] = {
      {"48 8b 07", true, true, true, true},      // mov rax, [rdi]
      {"48 8b 3f", true, false, true, true},     // mov rdi, [rdi]
      {"40 8a 3f", true, false, true, true},     // mov dil, [rdi]
      {"48 83 3f 00", true, true, true, true},   // cmp qword [rdi], 0
      {"48 89 37", true, true, true, false},     // mov [rdi], rsi
      {"f3 0f 10 07", true, true, false, true},  // movss xmm0, [rdi]
      {"f3 a4", true, false, true, false},       // rep movsb
      {"ff 27", false, false, false, false},     // jmp [rdi]
      {"ff 17", false, false, false, false},     // call [rdi]
      {"48 8b 2f", false, false, false, false},  // mov rbp, [rdi]
      {"48 8b 27", false, false, false, false},  // mov rsp, [rdi]
      {"4c 8b 27", false, false, false, false},  // mov r12, [rdi]
      {"0f ae 27", false, false, false, false},  // xsave: no table tells what it uses
  };
  for (const auto& c : cases) {
    EXPECT_EQ(stays(c.hex, Shown::nothing()), c.nothing) << c.hex;
    EXPECT_EQ(stays(c.hex, registers), c.registers) << c.hex;
    EXPECT_EQ(stays(c.hex, vectors), c.vectors) << c.hex;
    EXPECT_EQ(stays(c.hex, memory), c.memory) << c.hex;
    EXPECT_FALSE(stays(c.hex, Shown())) << c.hex;
  }
  EXPECT_FALSE(stays("48 8b 07", {.registers = kRax, .vectors = false, .memory = false}));
}

}  // namespace
}  // namespace blip::x86
