// SPDX-License-Identifier: MIT
#include "x86/flow/liveness.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "x86/test_bytes.h"
#include "x86/test_elf.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);

bool live(std::string_view hex) {
  auto code = test::bytes(hex);
  return flags_live(code, kBase, kBase);
}

TEST(Flags, dead_when_all_are_written_first) {
  EXPECT_FALSE(live("85 ff 74 00 c3"));        // test edi, edi; je; ret
  EXPECT_FALSE(live("48 89 f8 31 d2 11 c0"));  // mov; xor; adc
}

TEST(Flags, live_when_one_is_read_first) {
  EXPECT_TRUE(live("74 00 c3"));        // je
  EXPECT_TRUE(live("ff c7 11 c0 c3"));  // inc leaves CF; adc reads it
  EXPECT_TRUE(live("d3 e0 74 00 c3"));  // shl eax, cl may leave ZF
  EXPECT_TRUE(live("9c 58 c3"));        // pushf
}

TEST(Flags, dead_by_abi_at_call_and_return) {
  EXPECT_FALSE(live("c3"));
  EXPECT_FALSE(live("55 e8 00 00 00 00 74 00"));
  EXPECT_FALSE(live("ff e0"));
  EXPECT_FALSE(live("e9 00 10 00 00"));  // tail call
  EXPECT_FALSE(live("90 90"));           // runs out of the function
}

TEST(Flags, follows_jumps_and_both_ways_of_a_branch) {
  EXPECT_TRUE(live("eb 01 c3 74 00"));                  // jmp over ret to je
  EXPECT_TRUE(live("ff c7 74 01 c3 72 00 c3"));         // inc; je L; ret; L: jb reads the old CF
  EXPECT_FALSE(live("ff c7 74 01 c3 85 c0 72 00 c3"));  // the same with a test in between
}

TEST(Flags, live_when_in_doubt) {
  EXPECT_TRUE(live("06"));
  std::string nops;
  for (int i = 0; i < 70; ++i) nops += "90 ";
  EXPECT_TRUE(live(nops + "85 ff c3"));  // too far away
}

TEST(Flags, dead_where_nothing_ever_reads_them) {
  EXPECT_FALSE(live("eb fe"));
  EXPECT_FALSE(live("8d 49 ff e3 02 eb f9 85 c0 c3"));  // lea ecx, [rcx-1]; jrcxz 1f; jmp back; 1: test
}

TEST(Flags, undefined_ones_are_not_taken_for_written) {
  EXPECT_TRUE(live("0f bc c1 72 00 c3"));   // bsf; jb
  EXPECT_TRUE(live("f7 f1 74 00 c3"));      // div ecx; je
  EXPECT_FALSE(live("21 c0 9f 74 00 c3"));  // and; lahf: all processors clear AF
}

// Returns text such as "rax flags": those of rax, rcx, rdx and flags that are live inside a function.
std::string live_inside(std::string_view hex) {
  auto code = test::bytes(hex);
  const Liveness l = live_at(code, kBase, kBase, LivenessRule::kInside);
  std::string text;
  const auto add = [&](bool is_live, const char* name) {
    if (is_live) text += std::string(text.empty() ? "" : " ") + name;
  };
  add(l.registers & 1, "rax");
  add(l.registers & 2, "rcx");
  add(l.registers & 4, "rdx");
  add(l.flags != 0, "flags");
  return text;
}

struct Case {
  const char* name;
  const char* code;
  const char* live;
};

class LivenessTable : public ::testing::TestWithParam<Case> {};

TEST_P(LivenessTable, inside_a_function) { EXPECT_EQ(live_inside(GetParam().code), GetParam().live); }

#define REST "31 c9 31 d2 c3"      // xor ecx, ecx; xor edx, edx; ret: only rax is live
#define SET_RAX "b8 00 00 00 00 "  // mov eax, 0

const Case kCases[] = {
    {"everything_at_a_return", "c3", "rax rcx rdx flags"},
    {"everything_at_a_call", "e8 00 00 00 00 31 c0 c3", "rax rcx rdx flags"},
    {"everything_at_an_indirect_jump", "ff e6", "rax rcx rdx flags"},
    {"everything_at_a_jump_out", "e9 00 10 00 00", "rax rcx rdx flags"},
    {"everything_at_the_end", "90", "rax rcx rdx flags"},
    {"everything_at_what_is_no_code", "06", "rax rcx rdx flags"},
    {"everything_at_a_system_call", "0f 05 31 c0 " REST, "rax rcx rdx flags"},
    {"everything_at_a_trap", "0f 0b", "rax rcx rdx flags"},
    {"everything_at_a_transaction", "c7 f8 00 00 00 00 31 c0 c3", "rax rcx rdx flags"},
    {"xor_same", REST, "rax"},
    {"sub_same", "29 c0 " REST, ""},
    {"xor_same_bytes", "30 c0 " REST, "rax"},
    {"xor_others", "31 c8 " REST, "rax rcx"},
    {"sbb_same_reads_carry", "19 c0 " REST, "rax flags"},
    {"mov_imm32", SET_RAX REST, ""},
    {"mov_32", "89 f8 " REST, ""},
    {"mov_64", "48 89 f8 " REST, ""},
    {"mov_16_leaves_the_rest", "66 89 f8 " REST, "rax"},
    {"mov_8_leaves_the_rest", "b0 01 " REST, "rax"},
    {"mov_ah_leaves_the_rest", "b4 01 " REST, "rax"},
    {"mov_from_ah", "88 e3 " SET_RAX REST, "rax"},
    {"mov_from_spl_is_not_ah", "40 88 e3 " SET_RAX REST, ""},
    {"movzx_of_itself", "0f b6 c0 " REST, "rax"},
    {"load_through_itself", "8b 00 " REST, "rax"},
    {"load_with_index", "8b 04 87 " REST, "rax"},
    {"lea", "8d 47 01 " REST, ""},
    {"cmov_may_not_write", "0f 44 c7 " REST, "rax flags"},
    {"bsf_may_not_write", "0f bc c7 " REST, "rax"},
    {"tzcnt_writes", "f3 0f bc c7 " REST, ""},
    {"rep_lods_may_not_write", "f3 48 ad " REST, "rax rcx"},
    {"lods_writes", "48 ad " REST, ""},
    {"pop", "58 " REST, ""},
    {"push_reads", "50 58 " REST, "rax"},
    {"mul_reads_rax_writes_rdx", "f7 e7 " REST, "rax"},
    {"div_reads_both", "f7 f7 " REST, "rax rdx"},
    {"cqo_reads_rax", "48 99 " SET_RAX REST, "rax"},
    {"imul_three_operands", "6b c7 03 " REST, ""},
    {"imul_two_operands", "0f af c7 " REST, "rax"},
    {"xchg", "48 87 f8 " REST, "rax"},
    {"cmpxchg", "0f b1 37 " SET_RAX REST, "rax"},
    {"shift_by_cl", "d3 e7 " SET_RAX REST, "rcx"},
    {"setcc_leaves_the_rest", "0f 94 c0 " REST, "rax flags"},
    {"cpuid", "0f a2 c3", "rax rcx flags"},
    {"rdtsc", "0f 31 " REST, ""},
    {"xgetbv_is_not_trusted", "0f 01 d0 " REST, "rax rcx rdx"},
    {"rdssp_may_not_write", "f3 48 0f 1e c8 " REST, "rax rcx rdx"},
    {"endbr64", "f3 0f 1e fa " SET_RAX REST, ""},
    {"vmovd_from", "c5 f9 6e c0 " SET_RAX REST, "rax"},
    {"vmovd_to", "c5 f9 7e c0 " REST, ""},
    {"pcmpestri_reads_both_writes_rcx", "66 0f 3a 61 c1 00 " SET_RAX "31 d2 c3", "rax rdx"},
    {"fnstsw_leaves_the_rest", "df e0 " REST, "rax"},
    {"loop_reads_rcx", "e2 00 " SET_RAX REST, "rcx"},
    {"jrcxz_reads_rcx", "e3 00 " SET_RAX REST, "rcx"},
    {"one_way_of_a_branch_reads", "74 07 31 c0 31 c9 31 d2 c3 8b 10 31 c0 31 c9 c3", "rax flags"},
    {"both_ways_write", "85 ff 74 07 31 c0 31 c9 31 d2 c3 31 c9 89 f8 31 d2 c3", ""},
    // 1: mov eax, [rdi]; add rdi, 4; test eax, eax; jne 1b
    {"dead_around_a_loop", "8b 07 48 83 c7 04 85 c0 75 f6 " REST, ""},
    // 1: add eax, [rdi]; dec ecx; jne 1b; xor edx, edx; ret
    {"live_around_a_loop", "03 07 ff c9 75 fa 31 d2 c3", "rax rcx"},
};

INSTANTIATE_TEST_SUITE_P(Table, LivenessTable, ::testing::ValuesIn(kCases),
                         [](const auto& p) { return p.param.name; });

TEST(Liveness, entry_rule_is_about_flags_only) {
  auto ret = test::bytes("c3");
  EXPECT_EQ(live_at(ret, kBase, kBase, LivenessRule::kEntry), (Liveness{.flags = 0, .registers = 0xffff}));
}

std::vector<Insn> decode_all(std::span<const uint8_t> code, TargetAddr base) {
  std::vector<Insn> insns;
  for (size_t at = 0; at < code.size(); at += insns.back().length) {
    auto insn = decode(code.subspan(at), base + at);
    if (!insn) break;
    insns.push_back(*insn);
  }
  return insns;
}

TEST(Liveness, nothing_is_known_behind_a_jump_into_an_instruction) {
  auto code = test::bytes("eb 01 b8 00 00 00 00 31 c9 31 d2 c3");
  EXPECT_EQ(live_at_each(decode_all(code, kBase), LivenessRule::kEntry)[0], Liveness{});
}

// The walk from one place gives up after a few dozen instructions and then calls more live; otherwise both
// agree.
TEST(Liveness, one_place_and_all_places_agree_on_libc) {
  auto file = test::text_of_file("/lib/x86_64-linux-gnu/libc.so.6", test::FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  size_t count = 0, asked = 0, same = 0, dead_flags = 0, dead_register = 0;
  for (size_t f = 0; f < file.functions.size() && !::testing::Test::HasFailure(); ++f) {
    const auto function = file.bytes_of(f);
    const auto insns = decode_all(function.bytes, function.addr);
    const auto each = live_at_each(insns, LivenessRule::kInside);
    for (size_t i = 0; i < insns.size(); ++i) {
      ++count;
      dead_flags += each[i].flags == 0;
      dead_register += (each[i].registers & 7) != 7;
      if (i % 7) continue;
      ++asked;
      const Liveness one = live_at(function.bytes, function.addr, insns[i].addr, LivenessRule::kInside);
      EXPECT_EQ(each[i].registers & ~one.registers, 0) << insns[i].addr.value;
      EXPECT_EQ(each[i].flags & ~one.flags, 0u) << insns[i].addr.value;
      same += one == each[i];
    }
  }
  std::printf("%zu instructions: flags dead at %zu, rax, rcx or rdx at %zu; the walk agrees at %zu of %zu\n",
              count, dead_flags, dead_register, same, asked);
  EXPECT_GT(same, asked * 8 / 10);
}

}  // namespace
}  // namespace blip::x86
