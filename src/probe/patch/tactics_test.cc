// SPDX-License-Identifier: MIT
// Every way to lead a thread into a pad, on code made for it in a child that keeps working: what is counted
// is exact, the answers are right, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/inject/leftovers.h"
#include "probe/patch/test_tactics.h"

// All of them: 3 n + 1. The bytes behind a punned jump are chosen so that it leads some GiB away.
asm(R"(
    .text
    .p2align 4
    .globl tac_plain, tac_pun, tac_prefixed, tac_board, tac_next, tac_page, tac_neighbour, tac_run
tac_plain:    movabs $1, %rcx
              lea (%rcx,%rdi,2), %rax
              add %rdi, %rax
              ret

    .p2align 4
tac_pun:      mov %rdi, %rcx                  # 3 bytes, the site
              xor %eax, %eax                  # 31 c0: the upper half of its displacement
              lea 1(%rcx,%rcx,2), %rax
              ret

    .p2align 4
tac_prefixed: mov %rdi, %rcx                  # 48 e9 and one byte
              xor %eax, %eax                  # 31 c0
              lea 1(%rcx,%rcx,2), %rax        # 48
              ret

    .p2align 4
tac_board:    xor %eax, %eax                  # 2 bytes, a short jump
              lea 1(%rdi,%rdi,2), %rax
              ret
              .fill 8, 1, 0xcc

    .p2align 4
tac_next:     lea (%rdi,%rdi,2), %rax         # 4 bytes and the e9 of the next one's jump
              .byte 0x48, 0x05, 1, 0, 0, 0    # add $1, %rax
              ret

    .p2align 12
              .skip 4096 - 4
tac_page:     lea (%rdi,%rdi,2), %rax         # the last bytes of a page
              .byte 0x48, 0x05, 1, 0, 0, 0    # add $1, %rax: in the next one
              ret

    .p2align 4
tac_neighbour:
              movabs $1, %rcx                 # 10 bytes: its own jump and a springboard
              xor %eax, %eax                  # 2 bytes, a short jump back
              lea (%rcx,%rdi,2), %rax
              add %rdi, %rax
              ret

    .p2align 4
tac_run:      xor %eax, %eax                  # one jump for all: 2 + 3 + 3 bytes
              mov %rdi, %rax
              add %rdi, %rax
              lea 1(%rax,%rdi), %rax
              ret
)");

namespace blip::probe {
namespace {

struct Case {
  const char* name;
  Plan (*plan)();
  Worker::Function function;
};

class Tactic : public testing::TestWithParam<Case> {};

TEST_P(Tactic, counts_exactly_and_leaves_nothing) {
  Worker worker({GetParam().function}, 3);
  Traced traced(worker.pid());
  const std::string maps = maps_of(worker.pid());
  const auto text = traced.text();
  const Plan plan = GetParam().plan();
  for (int i = 0; i < 10; ++i) {
    auto armed = traced.arm(plan);
    ASSERT_TRUE(armed) << armed.error().message();
    for (const auto& [probe, reason] : (*armed)->report().refused) ADD_FAILURE() << probe << ": " << reason;
    EXPECT_NE(traced.text(), text);
    worker.wait_rounds(50);
    worker.pause();
    const auto before = hits(**armed, plan.probes.size());
    worker.run_exactly(1000);
    const auto after = hits(**armed, plan.probes.size());
    for (size_t p = 0; p < after.size(); ++p) EXPECT_EQ(after[p] - before[p], 1000u) << "probe " << p;
    worker.run_freely();
    auto removed = (*armed)->disarm();
    ASSERT_TRUE(removed) << removed.error().message();
    ASSERT_FALSE(removed->kept) << removed->kept_reason;
    EXPECT_EQ(removed->foreign, 0u);
    ASSERT_EQ(traced.text(), text);
    ASSERT_EQ(maps_of(worker.pid()), maps);
  }
  EXPECT_EQ(worker.errors(), 0u);
  EXPECT_EQ(worker.finish(), 0);
}

TEST_P(Tactic, leftovers_of_a_killed_blip_are_cleaned) {
  Worker worker({GetParam().function}, 2);
  Traced traced(worker.pid());
  const std::string maps = maps_of(worker.pid());
  const auto text = traced.text();
  const pid_t blip = ::fork();
  if (blip == 0) {
    Traced other(worker.pid());
    auto armed = other.arm(GetParam().plan());
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(blip, nullptr, 0);
  ASSERT_NE(traced.text(), text);
  auto cleaned = clean_leftovers(traced.process_, traced.memory_);
  ASSERT_TRUE(cleaned) << cleaned.error().message();
  EXPECT_EQ(traced.text(), text);
  EXPECT_EQ(maps_of(worker.pid()), maps);
  worker.wait_rounds(1000);
  EXPECT_EQ(worker.errors(), 0u);
  EXPECT_EQ(worker.finish(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, Tactic,
    testing::Values(Case{"plain", plain, tac_plain}, Case{"pun", [] { return pun(); }, tac_pun},
                    Case{"prefixed_pun", prefixed, tac_prefixed}, Case{"springboard", springboard, tac_board},
                    Case{"evict_next", [] { return next(tac_next); }, tac_next},
                    Case{"evict_next_in_another_page", [] { return next(tac_page); }, tac_page},
                    Case{"evict_neighbour", neighbour, tac_neighbour}, Case{"run_of_probes", run, tac_run}),
    [](const auto& c) { return c.param.name; });

TEST(Tactics, what_shares_bytes_with_a_refused_site_is_refused) {
  Worker worker({tac_next, tac_neighbour}, 1);
  Traced traced(worker.pid());
  const auto text = traced.text();
  for (Plan plan : {next(tac_next), neighbour()}) {
    plan.sites.front().bytes[1] ^= 1;  // as if another tool had changed it
    auto armed = traced.arm(plan);
    ASSERT_TRUE(armed) << armed.error().message();
    ASSERT_EQ((*armed)->report().refused.size(), 1u);
    EXPECT_EQ((*armed)->report().refused.front().second, "the place it shares bytes with cannot be patched");
    EXPECT_EQ(traced.text(), text);
  }
  EXPECT_EQ(worker.errors(), 0u);
}

TEST(Tactics, a_taken_trampoline_refuses_its_site) {
  Worker worker({tac_pun, tac_plain}, 1);
  Traced traced(worker.pid());
  Plan both = pun();
  both.probe(both.add(plain().sites.front()));
  both.sites.front().rewrite.entry = address_of(tac_board);  // mapped, and not where the bytes lead
  auto armed = traced.arm(both);
  ASSERT_TRUE(armed) << armed.error().message();
  ASSERT_EQ((*armed)->report().refused.size(), 1u);
  EXPECT_EQ((*armed)->report().refused.front().first, 0u);
  worker.wait_rounds(100);
  EXPECT_GT(hits(**armed, 2)[1], 0u);
  EXPECT_EQ(worker.errors(), 0u);
}

TEST(Tactics, a_pun_that_would_lead_astray_is_refused) {
  Worker worker({tac_pun}, 1);
  Traced traced(worker.pid());
  const auto text = traced.text();
  Plan plan = pun();
  plan.sites.front().rewrite.entry = plan.sites.front().rewrite.entry + 0x10000;
  auto armed = traced.arm(plan);
  ASSERT_TRUE(armed) << armed.error().message();
  EXPECT_EQ((*armed)->report().refused.size(), 1u);
  EXPECT_EQ(traced.text(), text);
}

}  // namespace
}  // namespace blip::probe
