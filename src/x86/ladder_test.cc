// SPDX-License-Identifier: MIT
#include "x86/ladder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x7f1234561000);

// Code at kBase + `at`; entries are offsets in it. Everything else is free for trampolines.
class LadderTest : public ::testing::Test {
 protected:
  void code(std::string_view hex, std::vector<uint64_t> entries = {}, uint64_t at = 0) {
    text_ = std::vector<uint8_t>(at, 0x06);  // no instruction
    const auto bytes = test::bytes(hex);
    text_.insert(text_.end(), bytes.begin(), bytes.end());
    map_ = std::make_unique<CodeMap>(text_, kBase);
    start_ = kBase + at;
    const AddrRange function{start_, kBase + text_.size()};
    map_->decode({&function, 1}, {&function.begin, 1});
    for (uint64_t e : entries) map_->enter(start_ + e);
    map_->finish();
  }
  Verdict alone(uint64_t offset) { return Ladder(*map_, options_, space_).alone(start_ + offset); }
  LadderPlan plan(std::vector<uint64_t> offsets) {
    std::vector<TargetAddr> points;
    for (uint64_t o : offsets) points.push_back(start_ + o);
    return Ladder(*map_, options_, space_).plan(points);
  }
  Step step(uint64_t offset) {
    const Verdict v = alone(offset);
    EXPECT_EQ(v.refusal, "");
    return v.step;
  }

  std::vector<uint8_t> text_;
  std::unique_ptr<CodeMap> map_;
  TargetAddr start_;
  RunOptions options_;
  TrampolineSpace space_{{{TargetAddr(0x10000), kBase}, {kBase + 0x10000, TargetAddr(0x7fffffff0000)}}, 100};
};

TEST_F(LadderTest, room_of_its_own) {
  code("0f 1f 44 00 00 b8 07 00 00 00 c3");
  EXPECT_EQ(step(0), Step::kNop);
  EXPECT_EQ(step(5), Step::kSingle);
}

TEST_F(LadderTest, a_window_goes_on_until_there_is_room) {
  code("55 48 89 e5 53 31 c0 c3");
  EXPECT_EQ(step(0), Step::kWindow);
  const LadderPlan p = plan({0});
  ASSERT_EQ(p.rewrites.size(), 1u);
  EXPECT_EQ(p.rewrites[0].length, 5);
}

TEST_F(LadderTest, a_system_call_stays_and_its_probe_runs_before_it) {
  code("b8 27 00 00 00 0f 05 c3 0f 1f 40 00");  // mov $39, %eax; syscall; ret; nop
  const LadderPlan p = plan({0, 5, 7});
  for (const Verdict& v : p.verdicts) EXPECT_EQ(v.refusal, "");
  ASSERT_EQ(p.rewrites.size(), 2u);
  EXPECT_EQ(p.rewrites[0].length, 5);
  EXPECT_EQ(p.verdicts[1].rewrite, 0u);
  EXPECT_EQ(p.verdicts[1].offset, 5);
  EXPECT_EQ(p.rewrites[1].start, start_ + 7);
}

TEST_F(LadderTest, a_system_call_that_is_jumped_to_is_refused) {
  code("b8 27 00 00 00 0f 05 c3", {5});
  EXPECT_EQ(alone(5).refusal, "a system call stays in its place, and this one is entered from elsewhere too");
  EXPECT_EQ(step(0), Step::kSingle);
}

TEST_F(LadderTest, the_way_back_from_a_signal_handler_is_left_alone) {
  code("48 c7 c0 0f 00 00 00 0f 05");  // mov $15, %rax; syscall
  EXPECT_NE(alone(0).refusal, "");
  EXPECT_NE(alone(7).refusal, "");
  code("b8 0f 00 00 00 0f 05");
  EXPECT_NE(alone(0).refusal, "");
}

// __builtin_setjmp: another function jumps to the label.
TEST_F(LadderTest, a_label_whose_address_is_taken_begins_a_run) {
  code("48 8d 05 03 00 00 00 5b 5d 90 48 ff c0 48 ff c3 c3");  // lea 1f(%rip), %rax; ...; 1: inc %rax
  EXPECT_TRUE(map_->is_entry(start_ + 10));
  for (const Rewrite& r : plan({0, 7, 8, 9, 10, 13, 16}).rewrites)
    EXPECT_FALSE(r.start < start_ + 10 && r.end() > start_ + 10);
}

TEST_F(LadderTest, the_last_ones_are_reached_from_upstream) {
  code("b8 07 00 00 00 5b 5d c3");
  EXPECT_EQ(step(7), Step::kUpstream);
  const LadderPlan p = plan({7});
  ASSERT_EQ(p.rewrites.size(), 1u);
  EXPECT_EQ(p.rewrites[0].start, start_);
  EXPECT_EQ(p.verdicts[0].offset, 7);
}

TEST_F(LadderTest, a_return_with_padding_behind) {
  code("c3 90 90 90 90");
  EXPECT_EQ(step(0), Step::kWindow);
}

TEST_F(LadderTest, probes_next_to_each_other_share_a_rewrite) {
  code("55 48 89 e5 53 31 c0 5b 5d c3");
  const LadderPlan p = plan({0, 1, 4, 5, 7, 8, 9});
  ASSERT_EQ(p.rewrites.size(), 1u);
  for (const Verdict& v : p.verdicts) EXPECT_EQ(v.refusal, "");
  EXPECT_EQ(p.rewrites[0].length, 10);
}

TEST_F(LadderTest, a_short_jump_to_padding) {
  // 0: xor eax,eax  2: jne 0 (so 2 is no run with 0's)...  both ends are entered from elsewhere
  code("31 c0 c3 0f 1f 44 00 00 31 c9 eb f4", {2, 8});
  const Verdict v = alone(0);
  EXPECT_EQ(v.refusal, "");
  EXPECT_EQ(v.step, Step::kSpringboard);
}

TEST_F(LadderTest, a_pun_takes_the_bytes_that_follow) {
  // 0: xor rax,rax (3 bytes), then an entry whose bytes are the displacement's upper half.
  code("48 31 c0 48 01 d8 48 01 c8 48 01 c3 c3", {3, 6, 9, 12});
  const LadderPlan p = plan({0});
  ASSERT_EQ(p.verdicts[0].refusal, "");
  ASSERT_EQ(p.verdicts[0].step, Step::kPun);
  const auto rel = static_cast<uint32_t>(p.rewrites[0].entry - (start_ + 5));
  EXPECT_EQ(rel >> 16, 0x0148u) << "48 01, as they stand there";
}

TEST_F(LadderTest, no_pun_over_bytes_that_others_will_change) {
  code("48 31 c0 b8 38 00 00 00 0f 05 c3", {3});
  const auto is_pun = [](Step s) { return s == Step::kPun || s == Step::kPrefixedPun; };
  EXPECT_TRUE(is_pun(step(0)));
  map_->watch(start_ + 3);
  const Verdict v = alone(0);
  EXPECT_FALSE(v.refusal.empty() && is_pun(v.step));
  EXPECT_NE(alone(8).refusal, "") << "the system call itself";
  EXPECT_EQ(step(3), Step::kSingle) << "what comes before it may move";
}

TEST_F(LadderTest, prefixes_move_the_pun) {
  // Without a prefix the upper half is 0x8000, two gigabytes below; with one it is 0x0080, eight megabytes
  // above.
  code("48 31 c0 00 80 00 00 00 00 c3", {3});
  space_ = TrampolineSpace({{kBase + 0x100000, TargetAddr(0x7fffffff0000)}}, 100);
  const LadderPlan p = plan({0});
  ASSERT_EQ(p.verdicts[0].step, Step::kPrefixedPun);
  EXPECT_EQ(p.rewrites[0].prefixes, 1);
  const auto rel = static_cast<uint32_t>(p.rewrites[0].entry - (start_ + 6));
  EXPECT_EQ(rel >> 8, 0x008000u);
}

TEST_F(LadderTest, everything_moves_to_make_room_for_a_byte) {
  // A return that is jumped to, right before another block: no byte to spare.
  code("c3 b8 07 00 00 00 c3", {1});
  space_ = TrampolineSpace(
      {{TargetAddr(0x7f0000000000), kBase}, {kBase + 0x10000, TargetAddr(0x7fffffff0000)}}, 100);
  const LadderPlan p = plan({0});
  ASSERT_EQ(p.verdicts[0].refusal, "");
  ASSERT_EQ(p.verdicts[0].step, Step::kEvictNext);
  ASSERT_EQ(p.rewrites.size(), 2u);
  // The next jump's bytes are the displacement of ours.
  std::vector<uint8_t> bytes = {0xe9, 0xe9, 0, 0, 0, 0};
  const auto next = static_cast<uint32_t>(p.rewrites[1].entry - (start_ + 6));
  std::memcpy(&bytes[2], &next, 4);
  int32_t rel;
  std::memcpy(&rel, &bytes[1], 4);
  EXPECT_EQ(start_ + 5 + static_cast<uint64_t>(int64_t{rel}), p.rewrites[0].entry);
  EXPECT_LT(p.rewrites[1].rank, p.rewrites[0].rank);
}

TEST_F(LadderTest, the_next_run_begins_earlier_to_complete_a_single_byte) {
  // ret; entry: add $127, %rax; ret; nop. Both returns are wanted.
  code("c3 48 83 c0 7f c3 0f 1f 44 00 00", {1});
  const LadderPlan p = plan({0, 5});
  for (const Verdict& v : p.verdicts) EXPECT_EQ(v.refusal, "");
  ASSERT_EQ(p.rewrites.size(), 2u);
  EXPECT_EQ(p.rewrites[0].step, Step::kEvictNext);
  EXPECT_EQ(p.rewrites[1].start, start_ + 1);
  EXPECT_EQ(p.verdicts[1].offset, 4);
  // Its own jump completes the one before.
  const auto rel = static_cast<uint32_t>(p.rewrites[0].entry - (start_ + 5));
  const auto next = static_cast<uint32_t>(p.rewrites[1].entry - (start_ + 6));
  EXPECT_EQ(rel, 0xe9 | next << 8);
}

TEST_F(LadderTest, a_neighbour_makes_room) {
  space_ = TrampolineSpace();  // no puns
  code("31 c0 c3 b8 07 00 00 00 b9 07 00 00 00 c3", {2, 3});
  const LadderPlan p = plan({0});
  ASSERT_EQ(p.verdicts[0].refusal, "");
  EXPECT_EQ(p.verdicts[0].step, Step::kEvictNeighbour);
  ASSERT_EQ(p.rewrites.size(), 2u);
  EXPECT_EQ(p.rewrites[1].start, start_ + 3);
  EXPECT_GE(p.rewrites[0].springboard, start_ + 8);
  EXPECT_LE(p.rewrites[0].springboard + 5, p.rewrites[1].end());
  EXPECT_LT(p.rewrites[1].rank, p.rewrites[0].rank);
}

TEST_F(LadderTest, tails_of_other_rewrites_are_room_too) {
  space_ = TrampolineSpace();
  code("31 c0 c3 b8 07 00 00 00 b9 07 00 00 00 c3", {2, 3});
  const LadderPlan p = plan({0, 3, 8, 13});
  for (const Verdict& v : p.verdicts) EXPECT_EQ(v.refusal, "");
  EXPECT_EQ(p.verdicts[0].step, Step::kSpringboard);
}

TEST_F(LadderTest, a_springboard_is_all_in_padding_or_all_in_one_rewrite) {
  space_ = TrampolineSpace();
  // lea; ret with 8 bytes of padding, then another block that has no room: xor eax,eax; ret
  code("8d 04 bd 00 00 00 00 c3 0f 1f 84 00 00 00 00 00 31 c0 c3 00", {16});
  const LadderPlan p = plan({0, 7, 16, 18});
  ASSERT_EQ(p.rewrites.size(), 2u);
  EXPECT_EQ(p.rewrites[0].padding, 0) << "it has room of its own";
  EXPECT_GE(p.rewrites[1].springboard, p.rewrites[0].end());
}

TEST_F(LadderTest, a_jump_never_crosses_a_page) {
  space_ = TrampolineSpace();
  code("b8 07 00 00 00 c3", {}, 0xffd);
  EXPECT_NE(alone(0).refusal, "");
  code("31 c0 b8 07 00 00 00 c3", {}, 0xffb);
  EXPECT_EQ(step(2), Step::kUpstream) << "from the page before";
}

TEST_F(LadderTest, singles_only) {
  options_.singles_only = true;
  space_ = TrampolineSpace();
  code("55 48 89 e5 b8 07 00 00 00 c3", {});
  EXPECT_NE(alone(0).refusal, "");
  EXPECT_EQ(step(4), Step::kSingle);
}

TEST_F(LadderTest, what_may_fault_stays_if_that_matters) {
  options_.faults_matter = true;
  code("48 8b 80 00 01 00 00 8b 05 00 00 00 00 c3");
  EXPECT_EQ(alone(0).refusal, "it may fault, and the program handles such faults itself");
  EXPECT_EQ(step(7), Step::kSingle) << "the module's own data does not";
}

TEST_F(LadderTest, what_may_have_no_result_stays_if_that_matters) {
  options_.overflows_matter = true;
  code("48 f7 f1 48 8b 80 00 01 00 00 c3", {3});  // div rcx; mov
  EXPECT_EQ(alone(0).refusal, "it may fault, and the program handles such faults itself");
  EXPECT_EQ(step(3), Step::kSingle);
}

TEST_F(LadderTest, calls_stay_under_shadow_stacks) {
  options_.shadow_stack = true;
  code("e8 fb ff ff ff c3");
  EXPECT_EQ(alone(0).refusal, "call in a process with shadow stacks");
}

TEST_F(LadderTest, what_somebody_else_has_decided_about) {
  code("b8 07 00 00 00 b9 07 00 00 00 c3");
  Ladder ladder(*map_, options_, space_);
  ladder.reserve({.start = start_, .length = 5, .step = Step::kSingle});
  const LadderPlan p = ladder.plan(std::vector{start_, start_ + 5});
  EXPECT_EQ(p.verdicts[0].refusal, "it is inside the bytes another probe replaces");
  EXPECT_EQ(p.verdicts[1].refusal, "");
}

TEST_F(LadderTest, no_room_at_all) {
  space_ = TrampolineSpace();
  code("c3 31 c0 c3", {1});
  EXPECT_EQ(alone(0).refusal,
            "its 1 byte leaves no room for a jump, and none of its size leads to free memory");
}

TEST_F(LadderTest, endbr64_stays) {
  code("f3 0f 1e fa c3");
  EXPECT_EQ(alone(0).refusal, "it marks a target of indirect jumps");
}

TEST_F(LadderTest, what_others_overlap_stays) {
  code("74 01 f0 48 0f b1 0f c3");
  EXPECT_EQ(alone(2).refusal, "another instruction begins inside it, or blip watches it itself");
}

TEST_F(LadderTest, traps_where_nothing_else_fits) {
  code("50 58 b8 07 00 00 00 f4", {1, 2});
  space_ = TrampolineSpace({}, 0);
  const std::vector<TargetAddr> points{start_, start_ + 2, start_ + 7};
  const auto with = [&](TrapUse use) { return Ladder(*map_, options_, space_).plan(points, false, use); };
  EXPECT_NE(with(TrapUse::kNever).verdicts[0].refusal, "");
  const LadderPlan last = with(TrapUse::kLast);
  EXPECT_EQ(last.verdicts[0].refusal, "");
  EXPECT_EQ(last.verdicts[0].step, Step::kTrap);
  EXPECT_NE(last.verdicts[1].step, Step::kTrap);
  EXPECT_NE(last.verdicts[2].refusal, "");  // what cannot be moved stays refused
  const LadderPlan always = with(TrapUse::kAlways);
  EXPECT_EQ(always.verdicts[1].step, Step::kTrap);
  EXPECT_EQ(always.rewrites[always.verdicts[1].rewrite].length, 5);
  EXPECT_NE(always.verdicts[2].refusal, "");
}

TEST_F(LadderTest, refusals) {
  code("f4 0f 0b c3 31 c0 c3", {1, 3});
  EXPECT_EQ(alone(0).refusal, "privileged instruction (hlt)");
  EXPECT_EQ(alone(1).refusal, "trap instruction (ud2)");
  EXPECT_EQ(alone(4).refusal, "no path seen leads there: it may be data");
  EXPECT_EQ(alone(5).refusal, "no instruction is known to begin there");
}

}  // namespace
}  // namespace blip::x86
