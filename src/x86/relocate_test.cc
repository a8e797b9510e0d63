// SPDX-License-Identifier: MIT
#include "x86/relocate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

using test::bytes;
using test::text;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr TargetAddr kFrom(0x7f0000401000);
constexpr TargetAddr kTo(0x7f0000501000);  // 1 MiB on: a disp32 to a fixed place shrinks by 0x100000

struct Case {
  const char* name;
  const char* window;
  const char* expected;
  bool falls_through = true;
};

class RelocateBytes : public ::testing::TestWithParam<Case> {};

TEST_P(RelocateBytes, as_expected) {
  auto window = bytes(GetParam().window);
  auto moved = relocate(window, kFrom, kTo);
  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ(text(moved->bytes), GetParam().expected);
  EXPECT_EQ(moved->falls_through, GetParam().falls_through);
}

const Case kCases[] = {
    {"plain_instructions", "55 48 89 e5 41 54", "55 48 89 e5 41 54"},
    {"rsp_relative", "48 89 5c 24 08 48 83 ec 20", "48 89 5c 24 08 48 83 ec 20"},
    {"absolute_address", "a1 00 10 40 00 00 00 00 00", "a1 00 10 40 00 00 00 00 00"},
    {"mov_from_rip", "48 8b 05 00 00 20 00", "48 8b 05 00 00 10 00"},
    {"store_immediate_to_rip", "c7 05 00 00 20 00 2a 00 00 00", "c7 05 00 00 10 00 2a 00 00 00"},
    {"lea_from_rip", "48 8d 3d 00 00 20 00", "48 8d 3d 00 00 10 00"},
    {"vex2_from_rip", "c5 fc 28 05 00 00 20 00", "c5 fc 28 05 00 00 10 00"},
    {"vex3_from_rip", "c4 e2 7d 18 05 00 00 20 00", "c4 e2 7d 18 05 00 00 10 00"},
    {"evex_from_rip", "62 f1 7c 48 28 05 00 00 20 00", "62 f1 7c 48 28 05 00 00 10 00"},
    {"rip_after_widened_branch", "74 10 48 8b 05 00 00 20 00", "0f 84 0c 00 f0 ff 48 8b 05 fc ff 0f 00"},
    {"jmp_short", "eb 10", "e9 0d 00 f0 ff", false},
    {"jmp_near", "e9 00 00 20 00", "e9 00 00 10 00", false},
    {"bnd_jmp", "f2 e9 00 00 20 00", "f2 e9 00 00 10 00", false},
    {"jcc_short", "75 10", "0f 85 0c 00 f0 ff"},
    {"jcc_near", "0f 8f 00 00 20 00", "0f 8f 00 00 10 00"},
    {"jcc_with_hint", "3e 75 10", "0f 85 0d 00 f0 ff"},
    {"loop", "e2 10", "e2 02 eb 05 e9 09 00 f0 ff"},
    {"loopne", "e0 10", "e0 02 eb 05 e9 09 00 f0 ff"},
    {"jrcxz", "e3 10", "e3 02 eb 05 e9 09 00 f0 ff"},
    {"jecxz", "67 e3 10", "67 e3 02 eb 05 e9 09 00 f0 ff"},
    {"jcc_to_a_later_head", "74 02 31 c0 31 d2", "0f 84 02 00 00 00 31 c0 31 d2"},
    {"jcc_to_an_earlier_head", "90 ff c9 75 fc", "90 ff c9 0f 85 f8 ff ff ff"},
    {"jcc_to_the_first_head_fires_again", "ff c9 75 fc", "ff c9 0f 85 f8 ff ef ff"},
    {"jcc_to_the_end", "74 00", "0f 84 fc ff ef ff"},
    {"call", "e8 00 00 20 00", "68 05 10 40 00 c7 44 24 04 00 7f 00 00 e9 f3 ff 0f 00", false},
    {"call_register", "31 c0 ff d1", "31 c0 68 04 10 40 00 c7 44 24 04 00 7f 00 00 ff e1", false},
    {"call_r8", "41 ff d0", "68 03 10 40 00 c7 44 24 04 00 7f 00 00 41 ff e0", false},
    {"call_through_rip", "ff 15 00 00 20 00", "68 06 10 40 00 c7 44 24 04 00 7f 00 00 ff 25 f3 ff 0f 00",
     false},
    {"call_through_register", "ff 53 18", "68 03 10 40 00 c7 44 24 04 00 7f 00 00 ff 63 18", false},
    {"call_through_rsp", "ff 14 24", "68 03 10 40 00 c7 44 24 04 00 7f 00 00 ff 64 24 08", false},
    {"call_through_rsp_disp8", "ff 54 24 08", "68 04 10 40 00 c7 44 24 04 00 7f 00 00 ff 64 24 10", false},
    {"call_through_rsp_disp8_grows", "42 ff 54 e4 78",
     "68 05 10 40 00 c7 44 24 04 00 7f 00 00 42 ff a4 e4 80 00 00 00", false},
    {"call_through_rsp_disp32", "ff 94 24 00 01 00 00",
     "68 07 10 40 00 c7 44 24 04 00 7f 00 00 ff a4 24 08 01 00 00", false},
    {"notrack_call", "3e ff d0", "68 03 10 40 00 c7 44 24 04 00 7f 00 00 3e ff e0", false},
    {"ret", "31 c0 c3", "31 c0 c3", false},
    {"rep_ret", "f3 c3", "f3 c3", false},
    {"ret_imm", "c2 08 00", "c2 08 00", false},
    {"jmp_through_rip_notrack", "3e ff 25 00 00 20 00", "3e ff 25 00 00 10 00", false},
    {"jmp_through_rsp", "ff 64 24 08", "ff 64 24 08", false},
    {"addr32_operand", "67 8b 47 08", "67 8b 47 08"},
    {"fs_operand", "64 48 8b 04 25 28 00 00 00", "64 48 8b 04 25 28 00 00 00"},
    {"gs_operand_from_rip", "65 48 8b 05 00 00 20 00", "65 48 8b 05 00 00 10 00"},
    {"immediate_behind_vex", "c4 e3 fd 00 05 00 00 20 00 1b", "c4 e3 fd 00 05 00 00 10 00 1b"},
    {"immediate_behind_evex", "62 f3 fd 48 25 05 00 00 20 00 96", "62 f3 fd 48 25 05 00 00 10 00 96"},
    {"immediate16", "66 c7 05 00 00 20 00 34 12", "66 c7 05 00 00 10 00 34 12"},
    {"locked", "f0 83 05 00 00 20 00 01", "f0 83 05 00 00 10 00 01"},
    {"rep_movsb", "f3 a4", "f3 a4"},
    {"cpuid", "0f a2", "0f a2"},
    {"rdtscp", "0f 01 f9", "0f 01 f9"},
    {"jmp_through_rip", "ff 25 00 00 20 00", "ff 25 00 00 10 00", false},
    {"notrack_jmp", "3e ff e0", "3e ff e0", false},
    {"syscall_last", "b8 27 00 00 00 0f 05", "b8 27 00 00 00 0f 05"},
    {"endbr64_first", "f3 0f 1e fa 55", "f3 0f 1e fa 55"},
};

INSTANTIATE_TEST_SUITE_P(Table, RelocateBytes, ::testing::ValuesIn(kCases),
                         [](const auto& p) { return p.param.name; });

struct Refusal {
  const char* name;
  const char* window;
  const char* reason;
};

class RelocateRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(RelocateRefuses, with_reason) {
  auto window = bytes(GetParam().window);
  auto moved = relocate(window, kFrom, kTo);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(moved.error().message(), HasSubstr(GetParam().reason));
}

const Refusal kRefusals[] = {
    {"empty", "", "window of 0 bytes"},
    {"call_not_last", "e8 00 00 00 00 90", "call in the middle of the replaced bytes"},
    {"indirect_call_not_last", "ff d0 90", "call in the middle of the replaced bytes"},
    {"syscall_not_last", "0f 05 90", "system call in the middle"},
    {"ret_not_last", "c3 90", "return in the middle"},
    {"jmp_not_last", "eb 10 90", "jump in the middle"},
    {"call_rsp", "ff d4", "call through rsp among the replaced bytes"},
    {"call_below_rsp", "ff 54 24 f8", "call through rsp among the replaced bytes"},
    {"call_through_rsp_out_of_range", "ff 94 24 ff ff ff 7f", "call through rsp among the replaced bytes"},
    {"call_through_esp", "67 ff 54 24 08", "call through rsp among the replaced bytes"},
    {"int3", "cc", "trap instruction (int3)"},
    {"int80", "cd 80", "trap instruction (int)"},
    {"int1", "f1", "trap instruction (int1)"},
    {"ud2", "0f 0b", "trap instruction (ud2)"},
    {"hlt", "f4", "(hlt)"},
    {"far_call", "ff 1f", "rare kind (call)"},
    {"far_jmp", "ff 2f", "rare kind (jmp)"},
    {"operand16_call_register", "66 ff d0", "branch with an operand-size prefix"},
    {"far_ret", "cb", "rare kind (ret)"},
    {"xbegin", "c7 f8 00 00 00 00", "rare kind (xbegin)"},
    {"sysenter", "0f 34", "rare kind (sysenter)"},
    {"iretq", "48 cf", "rare kind (iretq)"},
    {"wrmsr", "0f 30", "privileged instruction (wrmsr)"},
    {"undecodable", "90 06", "no instruction"},
    {"cut_short", "90 e9 00", "no instruction"},
    {"into_an_instruction", "74 01 b8 00 00 00 00", "leads into the middle of an instruction"},
    {"endbr64_inside", "90 f3 0f 1e fa", "target of indirect jumps"},
    {"operand16_jmp", "66 e9 00 00 00 00", "branch with an operand-size prefix"},
    {"eip_relative", "67 8b 05 00 00 20 00", "operand relative to eip"},
};

INSTANTIATE_TEST_SUITE_P(Table, RelocateRefuses, ::testing::ValuesIn(kRefusals),
                         [](const auto& p) { return p.param.name; });

TEST(Relocate, heads_map_every_instruction) {
  auto window = bytes("55 74 10 48 89 e5");
  auto moved = relocate(window, kFrom, kTo);
  ASSERT_TRUE(moved);
  EXPECT_THAT(moved->heads, ::testing::ElementsAre(Pair(0, 0), Pair(1, 1), Pair(3, 7)));
}

TEST(Relocate, low_return_address_needs_one_push) {
  auto window = bytes("e8 00 00 00 00");
  auto moved = relocate(window, TargetAddr(0x401000), TargetAddr(0x501000));
  ASSERT_TRUE(moved);
  EXPECT_EQ(text(moved->bytes), "68 05 10 40 00 e9 fb ff ef ff");
}

TEST(Relocate, shadow_stack_refuses_calls_only) {
  RelocateOptions options{.shadow_stack = true};
  for (const char* hex : {"e8 00 00 00 00", "ff d0", "ff 15 00 00 00 00"}) {
    auto window = bytes(hex);
    auto moved = relocate(window, kFrom, kTo, options);
    ASSERT_FALSE(moved) << hex;
    EXPECT_THAT(moved.error().message(), HasSubstr("shadow stacks"));
  }
  auto window = bytes("55 c3");
  EXPECT_TRUE(relocate(window, kFrom, kTo, options));
}

constexpr TargetAddr kFar(0x600000000000);

TEST(Relocate, lea_out_of_reach_becomes_mov) {
  auto lea64 = bytes("4c 8d 25 f9 ff 0f 00");  // lea r12, [rip+0xffff9]
  auto moved = relocate(lea64, kFrom, kFar);
  ASSERT_TRUE(moved);
  EXPECT_EQ(text(moved->bytes), "49 bc 00 10 50 00 00 7f 00 00");
  auto lea32 = bytes("44 8d 25 f9 ff 0f 00");  // lea r12d, [rip+0xffff9]
  moved = relocate(lea32, kFrom, kFar);
  ASSERT_TRUE(moved);
  EXPECT_EQ(text(moved->bytes), "41 bc 00 10 50 00");
}

TEST(Relocate, out_of_reach_is_refused_by_name) {
  for (const char* hex : {"48 8b 05 00 00 00 00", "66 8d 05 00 00 00 00"}) {
    auto window = bytes(hex);
    auto moved = relocate(window, kFrom, kFar);
    ASSERT_FALSE(moved) << hex;
    EXPECT_THAT(moved.error().message(),
                HasSubstr("at 0x7f0000401000 refers to memory out of reach of the pad"));
  }
  auto jump = bytes("75 10");
  auto moved = relocate(jump, kFrom, kFar);
  ASSERT_FALSE(moved);
  EXPECT_THAT(moved.error().message(),
              HasSubstr("target of jnz at 0x7f0000401000 is out of reach of the pad"));
}

}  // namespace
}  // namespace blip::x86
