// SPDX-License-Identifier: MIT
#include "probe/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Functions of this program with known entries.
asm(R"(
    .text
    .type plan_single, @function
    .p2align 4
plan_single:  mov $7, %eax
              ret
    .size plan_single, .-plan_single

    .type plan_window, @function
    .p2align 4
plan_window:  push %rbp
              mov %rsp, %rbp
              xor %eax, %eax
              pop %rbp
              ret
    .size plan_window, .-plan_window

    .type plan_loop_inside, @function
    .p2align 4
plan_loop_inside:
              xor %eax, %eax
1:            inc %eax
              cmp $10, %eax
              jne 1b
              ret
    .size plan_loop_inside, .-plan_loop_inside

    .type plan_entered_from_elsewhere, @function
    .p2align 4
plan_entered_from_elsewhere:
              xor %eax, %eax
plan_inner_label:
              inc %ecx
              inc %edx
              ret
    .size plan_entered_from_elsewhere, .-plan_entered_from_elsewhere
    .type plan_enters_it, @function
    .p2align 4
plan_enters_it:
              xor %eax, %eax
              .byte 0xe9
              .long plan_inner_label - . - 4
    .size plan_enters_it, .-plan_enters_it

    .type plan_pointed_into, @function
    .p2align 4
plan_pointed_into:
              xor %eax, %eax
plan_pointed: inc %ecx
              inc %edx
              ret
    .size plan_pointed_into, .-plan_pointed_into
    .section .data.rel.ro, "aw"
    .p2align 3
    .quad plan_pointed
    .text

    .type plan_table_into, @function
    .p2align 4
plan_table_into:
              xor %eax, %eax
plan_case:    inc %ecx
              lea plan_table(%rip), %rdx
              movslq (%rdx,%rcx,4), %rcx
              add %rdx, %rcx
              jmp *%rcx
    .size plan_table_into, .-plan_table_into
    .section .rodata
    .p2align 2
plan_table:   .long plan_case - plan_table
              .long plan_case - plan_table
    .text

    .type plan_short, @function
    .p2align 4
plan_short:   xor %eax, %eax
              ret
    .size plan_short, .-plan_short
    .p2align 4

    .type plan_flags, @function
    .p2align 4
plan_flags:   adc $5, %eax
              nop
              nop
              ret
    .size plan_flags, .-plan_flags
)");

namespace blip::probe {
namespace {

const Module& self() {
  static const Module module = [] {
    auto file = elf::ElfFile::open("/proc/self/exe");
    return Module(*std::move(file), "/self", 0x10000000, true);
  }();
  return module;
}

SitePlan plan_of(const std::string& name) {
  auto symbols = self().symbols();
  for (const elf::Function& f : (*symbols)->functions())
    if (f.name == name) return plan_entries(self(), std::vector{f}).front();
  return {.refusal = "no such function"};
}

TEST(Plan, one_long_instruction_needs_no_proof) {
  const SitePlan site = plan_of("plan_single");
  EXPECT_EQ(site.refusal, "");
  EXPECT_EQ(site.window.step, x86::Step::kSingle);
  EXPECT_FALSE(site.window.needs_proof);
}

TEST(Plan, clean_window) {
  const SitePlan site = plan_of("plan_window");
  EXPECT_EQ(site.refusal, "");
  EXPECT_EQ(site.window.step, x86::Step::kWindow);
  EXPECT_EQ(site.window.length, 6);
}

TEST(Plan, short_function_uses_the_padding_behind_its_ret) {
  const SitePlan site = plan_of("plan_short");
  EXPECT_EQ(site.refusal, "");
  EXPECT_EQ(site.window.length, 3);
  EXPECT_GE(site.window.padding, 2);
}

TEST(Plan, flags_that_the_entry_reads_are_saved) { EXPECT_TRUE(plan_of("plan_flags").window.flags_live); }
TEST(Plan, flags_are_dead_at_an_ordinary_entry) { EXPECT_FALSE(plan_of("plan_window").window.flags_live); }

struct Refused {
  const char* function;
  const char* reason;
};
class PlanRefuses : public testing::TestWithParam<Refused> {};

TEST_P(PlanRefuses, what_can_be_entered_in_the_middle) {
  EXPECT_THAT(plan_of(GetParam().function).refusal, testing::HasSubstr(GetParam().reason));
}
INSTANTIATE_TEST_SUITE_P(Cases, PlanRefuses,
                         testing::Values(Refused{"plan_loop_inside", "branch"},
                                         Refused{"plan_entered_from_elsewhere", "branch"},
                                         Refused{"plan_pointed_into", "pointer"},
                                         Refused{"plan_table_into", "jump table"}),
                         [](const auto& p) { return std::string(p.param.function); });

TEST(Plan, most_entries_of_libc_can_be_patched) {
  auto file = elf::ElfFile::open("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(file);
  const Module libc(*std::move(file), "/libc.so.6", 0x7f0000000000, false);
  auto symbols = libc.symbols();
  std::vector<elf::Function> functions;  // one per address
  for (const elf::Function& f : (*symbols)->functions())
    if (!f.is_ifunc && (functions.empty() || functions.back().addr != f.addr)) functions.push_back(f);
  size_t armed = 0;
  for (const SitePlan& site : plan_entries(libc, functions)) armed += !site.refused();
  EXPECT_GE(armed * 100, functions.size() * 97);
}

}  // namespace
}  // namespace blip::probe
