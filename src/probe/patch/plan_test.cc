// SPDX-License-Identifier: MIT
#include "probe/patch/plan.h"

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

    .type plan_marked_loop, @function
    .p2align 4
plan_marked_loop:
              endbr64
1:            dec %edi
              jne 1b
              ret
    .size plan_marked_loop, .-plan_marked_loop

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

// The plan for the entry of one function.
struct EntryPlan {
  PlannedProbe probe;
  Site site;
};

EntryPlan plan_of(const std::string& name) {
  auto symbols = self().symbols();
  x86::TrampolineSpace no_puns;
  for (const elf::Function& f : (*symbols)->functions()) {
    if (f.name != name) continue;
    const std::vector<Point> points{{.addr = f.addr, .is_entry = true, .function = f}};
    const ModulePlan plan = plan_points(self(), points, {}, no_puns);
    if (plan.probes[0].refused()) return {plan.probes[0], {}};
    return {plan.probes[0], plan.sites[plan.probes[0].site]};
  }
  return {{.refusal = "no such function"}, {}};
}

TEST(Plan, one_long_instruction) {
  const EntryPlan plan = plan_of("plan_single");
  EXPECT_EQ(plan.probe.refusal, "");
  EXPECT_EQ(plan.probe.step, x86::Step::kSingle);
}

TEST(Plan, clean_window) {
  const EntryPlan plan = plan_of("plan_window");
  EXPECT_EQ(plan.probe.refusal, "");
  EXPECT_EQ(plan.probe.step, x86::Step::kWindow);
  EXPECT_EQ(plan.site.rewrite.length, 6);
}

TEST(Plan, short_function_uses_the_padding_behind_its_ret) {
  const EntryPlan plan = plan_of("plan_short");
  EXPECT_EQ(plan.probe.refusal, "");
  EXPECT_EQ(plan.site.rewrite.length, 3);
  EXPECT_GE(plan.site.rewrite.padding, 2);
}

TEST(Plan, flags_that_the_entry_reads_are_saved) { EXPECT_TRUE(plan_of("plan_flags").probe.flags_live); }
TEST(Plan, flags_are_dead_at_an_ordinary_entry) { EXPECT_FALSE(plan_of("plan_window").probe.flags_live); }

// However they are reached: the bytes behind the first instruction stay as they are.
class PlanSpares : public testing::TestWithParam<const char*> {};

TEST_P(PlanSpares, what_can_be_entered_in_the_middle) {
  const EntryPlan plan = plan_of(GetParam());
  EXPECT_EQ(plan.probe.refusal, "");
  EXPECT_EQ(plan.site.rewrite.length, 2);
  EXPECT_EQ(plan.probe.step, x86::Step::kSpringboard);
}
INSTANTIATE_TEST_SUITE_P(Cases, PlanSpares,
                         testing::Values("plan_loop_inside", "plan_entered_from_elsewhere",
                                         "plan_pointed_into", "plan_table_into"),
                         [](const auto& p) { return std::string(p.param); });

// It marks a target of indirect jumps and stays; the next instruction runs more often than it.
TEST(Plan, an_endbr64_before_a_loop_is_refused_but_not_the_entry) {
  auto symbols = self().symbols();
  x86::TrampolineSpace space = assumed_space(self());
  for (const elf::Function& f : (*symbols)->functions()) {
    if (f.name != "plan_marked_loop") continue;
    const std::vector<Point> points{{.addr = f.addr, .is_entry = false, .function = f},
                                    {.addr = f.addr, .is_entry = true, .function = f}};
    const ModulePlan plan = plan_points(self(), points, {}, space);
    EXPECT_THAT(plan.probes[0].refusal,
                testing::HasSubstr(
                    "it marks a target of indirect jumps, and what follows is entered from elsewhere too"));
    EXPECT_EQ(plan.probes[1].refusal, "");
    EXPECT_TRUE(plan.probes[1].skip_red_zone) << "the loop comes back";
  }
}

TEST(Plan, nearly_all_entries_of_libc_can_be_patched) {
  auto file = elf::ElfFile::open("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(file);
  const Module libc(*std::move(file), "/libc.so.6", 0x7f0000000000, false);
  auto symbols = libc.symbols();
  std::vector<Point> points;  // one per address
  for (const elf::Function& f : (*symbols)->functions())
    if (!f.is_ifunc && (points.empty() || points.back().addr != f.addr))
      points.push_back({.addr = f.addr, .is_entry = true, .function = f});
  x86::TrampolineSpace space = assumed_space(libc);
  const ModulePlan plan = plan_points(libc, points, {}, space);
  size_t armed = 0;
  for (const PlannedProbe& probe : plan.probes) armed += !probe.refused();
  EXPECT_GE(armed * 1000, points.size() * 999);
}

}  // namespace
}  // namespace blip::probe
