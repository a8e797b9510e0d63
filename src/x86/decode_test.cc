// SPDX-License-Identifier: MIT
#include "x86/decode.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

using test::bytes;

constexpr TargetAddr kAt(0x401000);

Insn must_decode(std::string_view hex) {
  auto code = bytes(hex);
  auto insn = decode(code, kAt);
  EXPECT_TRUE(insn) << hex;
  return insn.value_or(Insn{});
}

TEST(Decode, flow_of_each_kind) {
  struct Case {
    const char* hex;
    Flow flow;
  };
  const Case cases[] = {
      {"48 89 e5", Flow::kNext},               // mov rbp, rsp
      {"eb 00", Flow::kJump},                  // jmp short
      {"e9 00 00 00 00", Flow::kJump},         // jmp near
      {"f2 e9 00 00 00 00", Flow::kJump},      // bnd jmp
      {"74 00", Flow::kCondJump},              // je short
      {"0f 84 00 00 00 00", Flow::kCondJump},  // je near
      {"e2 fe", Flow::kCondJump},              // loop
      {"e3 00", Flow::kCondJump},              // jrcxz
      {"67 e3 00", Flow::kCondJump},           // jecxz
      {"e8 00 00 00 00", Flow::kCall},         // call
      {"c3", Flow::kReturn},                   // ret
      {"f3 c3", Flow::kReturn},                // rep ret
      {"c2 08 00", Flow::kReturn},             // ret 8
      {"ff e0", Flow::kIndirectJump},          // jmp rax
      {"3e ff e0", Flow::kIndirectJump},       // notrack jmp rax
      {"ff 25 00 00 00 00", Flow::kIndirectJump},
      {"ff d0", Flow::kIndirectCall},  // call rax
      {"ff 15 00 00 00 00", Flow::kIndirectCall},
      {"0f 05", Flow::kSyscall},
      {"cc", Flow::kTrap},
      {"cd 80", Flow::kTrap},
      {"0f 0b", Flow::kTrap},               // ud2
      {"f4", Flow::kTrap},                  // hlt
      {"cb", Flow::kOther},                 // far ret
      {"ff 28", Flow::kOther},              // far jmp [rax]
      {"ff 18", Flow::kOther},              // far call [rax]
      {"0f 34", Flow::kOther},              // sysenter
      {"48 cf", Flow::kOther},              // iretq
      {"c7 f8 00 00 00 00", Flow::kOther},  // xbegin
  };
  for (const Case& c : cases) EXPECT_EQ(must_decode(c.hex).flow, c.flow) << c.hex;
}

TEST(Decode, targets_of_direct_branches) {
  EXPECT_EQ(must_decode("eb fe").target, kAt);
  EXPECT_EQ(must_decode("e9 00 01 00 00").target, kAt + 0x105);
  EXPECT_EQ(must_decode("0f 85 fa ff ff ff").target, kAt);
  EXPECT_EQ(must_decode("c7 f8 0a 00 00 00").target, kAt + 16);
  EXPECT_FALSE(must_decode("ff e0").target);
  EXPECT_FALSE(must_decode("68 00 00 00 00").target);
}

TEST(Decode, rip_relative_operands_of_every_encoding) {
  struct Case {
    const char* hex;
    uint8_t disp_offset;
  };
  const Case cases[] = {
      {"48 8b 05 10 00 00 00", 3},           // mov rax, [rip+16]
      {"c7 05 10 00 00 00 2a 00 00 00", 2},  // mov dword [rip+16], 42
      {"0f 28 05 10 00 00 00", 3},           // movaps xmm0, [rip+16]
      {"c5 fc 28 05 10 00 00 00", 4},        // vmovaps ymm0, [rip+16]
      {"c4 e2 7d 18 05 10 00 00 00", 5},     // vbroadcastss ymm0, [rip+16]
      {"62 f1 7c 48 28 05 10 00 00 00", 6},  // vmovaps zmm0, [rip+16]
  };
  for (const Case& c : cases) {
    Insn insn = must_decode(c.hex);
    EXPECT_TRUE(insn.rip_relative) << c.hex;
    EXPECT_EQ(insn.rip_target, insn.end() + 16) << c.hex;
    EXPECT_EQ(insn.disp_offset, c.disp_offset) << c.hex;
    EXPECT_TRUE(insn.touches_memory) << c.hex;
  }
  EXPECT_FALSE(must_decode("48 8d 05 10 00 00 00").touches_memory);  // lea
}

TEST(Decode, nops_and_endbr64) {
  for (const char* hex : {"90", "66 90", "0f 1f 00", "0f 1f 44 00 00", "66 2e 0f 1f 84 00 00 00 00 00",
                          "66 66 2e 0f 1f 84 00 00 00 00 00"}) {
    EXPECT_TRUE(must_decode(hex).is_nop) << hex;
    EXPECT_FALSE(must_decode(hex).touches_memory) << hex;
  }
  EXPECT_FALSE(must_decode("f3 90").is_nop);  // pause
  EXPECT_FALSE(must_decode("f3 0f 1e fa").is_nop);
  EXPECT_TRUE(must_decode("f3 0f 1e fa").is_endbr64);
}

TEST(Decode, flags_read_and_written) {
  struct Case {
    const char* hex;
    uint32_t read, written;
  };
  const Case cases[] = {
      {"48 89 e5", 0, 0},                    // mov
      {"85 c0", 0, kStatusFlags},            // test
      {"31 c0", 0, kStatusFlags},            // xor
      {"ff c0", 0, kStatusFlags & ~kCarry},  // inc
      {"11 c0", kCarry, kStatusFlags},       // adc
      {"74 00", kZero, 0},                   // je
      {"0f 44 c1", kZero, 0},                // cmove
      {"e1 00", kZero, 0},                   // loope
      {"9f", kStatusFlags & ~kOverflow, 0},  // lahf
      {"9c", kStatusFlags, 0},               // pushf
      {"d3 e0", 0, 0},                       // shl eax, cl: cl may be 0
      {"c1 e0 20", 0, 0},                    // shl eax, 32: no shift
      {"c1 e0 03", 0, kStatusFlags},         // shl eax, 3
      {"d1 e0", 0, kStatusFlags},            // shl eax, 1
      {"d2 e1", 0, 0},                       // shl cl, cl
      {"d0 e1", 0, kStatusFlags},            // shl cl, 1
      {"0f a5 d0", 0, 0},                    // shld eax, edx, cl
      {"f3 a6", kZero, 0},                   // repe cmpsb: rcx may be 0; its own test of ZF counts as a read
      {"a6", 0, kStatusFlags},               // cmpsb
      {"0f 05", kStatusFlags, 0},            // syscall
  };
  for (const Case& c : cases) {
    Insn insn = must_decode(c.hex);
    EXPECT_EQ(insn.flags_read, c.read) << c.hex;
    EXPECT_EQ(insn.flags_written, c.written) << c.hex;
    EXPECT_EQ(insn.reads_flags, c.read != 0) << c.hex;
  }
}

TEST(Decode, rsp_in_written_operands_only) {
  EXPECT_TRUE(must_decode("ff 54 24 08").uses_rsp);  // call [rsp+8]
  EXPECT_TRUE(must_decode("ff d4").uses_rsp);        // call rsp
  EXPECT_TRUE(must_decode("48 83 ec 08").uses_rsp);  // sub rsp, 8
  EXPECT_FALSE(must_decode("ff 55 08").uses_rsp);    // call [rbp+8]
  EXPECT_FALSE(must_decode("50").uses_rsp);          // push rax
}

TEST(Decode, memory_that_may_not_be_there) {
  for (const char* hex : {"48 8b 07",
                          "48 89 77 08",
                          "48 83 3f 00",
                          "ff 27",
                          "ff 17",
                          "ff 37",
                          "8f 07",
                          "48 8b 45 f8",
                          "f3 a4",
                          "f2 ae",
                          "ac",
                          "d7",
                          "a0 08 00 00 00 00 00 00 00",
                          "64 48 8b 04 07",
                          "65 48 8b 04 25 08 00 00 00",
                          "f0 0f b1 0f",
                          "0f ae 07",
                          "f3 0f 10 07",
                          "c4 e2 f9 91 14 0f",
                          "8b 04 25 00 10 00 00"})
    EXPECT_TRUE(must_decode(hex).may_fault) << hex;
  for (const char* hex : {"50", "58", "c3", "c9", "e8 00 00 00 00", "48 8b 44 24 08", "8b 05 10 00 00 00",
                          "ff 15 00 00 00 00", "48 8d 07", "0f 1f 07", "9c", "64 48 8b 04 25 28 00 00 00",
                          "64 48 8b 04 25 f8 ff ff ff", "0f 18 0f", "89 c8"})
    EXPECT_FALSE(must_decode(hex).may_fault) << hex;
}

TEST(Decode, memory_that_is_written) {
  for (const char* hex : {"48 89 07", "f3 a4", "aa", "83 07 01", "50", "e8 00 00 00 00", "0f 11 07"})
    EXPECT_TRUE(must_decode(hex).writes_memory) << hex;
  for (const char* hex : {"48 8b 07", "48 83 3f 00", "84 07", "ac", "58", "c3", "0f 10 07", "ff 27"})
    EXPECT_FALSE(must_decode(hex).writes_memory) << hex;
}

TEST(Decode, arithmetic_that_may_have_no_result) {
  for (const char* hex :
       {"48 f7 f9", "f7 37", "f2 0f 58 c1", "0f 5e c1", "66 0f 2f c1", "c5 fb 58 c1", "62 f1 fd 48 58 c1",
        "62 f1 fd 08 2f c1", "62 f1 ff 08 2d c1", "c4 e2 7d 13 c1", "d8 c1", "d9 07", "0f 6f c1"})
    EXPECT_TRUE(must_decode(hex).may_have_no_result) << hex;
  for (const char* hex : {"66 0f ef c0", "66 0f 6e c6", "66 0f 6f 07", "0f 28 05 00 00 00 00", "f2 0f 10 07",
                          "c5 f9 ef c0", "c4 e2 7d 78 c0", "66 48 0f 7e c0", "48 f7 e9", "99"})
    EXPECT_FALSE(must_decode(hex).may_have_no_result) << hex;
}

TEST(Decode, no_instruction) {
  for (const char* hex : {"", "06", "48", "e9 00 00", "0f 04", "c4 e2"}) {
    auto code = bytes(hex);
    EXPECT_FALSE(decode(code, kAt)) << hex;
  }
}

TEST(Decode, privileged) {
  EXPECT_TRUE(must_decode("0f 30").is_privileged);   // wrmsr
  EXPECT_FALSE(must_decode("0f 31").is_privileged);  // rdtsc
}

}  // namespace
}  // namespace blip::x86
