// SPDX-License-Identifier: MIT
#include "x86/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "x86/relocate.h"
#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

using test::bytes;
using ::testing::HasSubstr;

constexpr TargetAddr kAddr(0x401000);

Result<Window> window_of(std::string_view code, std::string_view after = "", WindowOptions options = {},
                         TargetAddr at = kAddr) {
  auto function = bytes(code);
  auto behind = bytes(after);
  return entry_window({function, at, behind}, options);
}

struct Case {
  const char* name;
  const char* code;
  const char* after;
  uint64_t skipped;  // bytes before the site
  uint8_t length;
  Step step;
  uint8_t padding;
  bool needs_proof;
};

class EntryWindow : public ::testing::TestWithParam<Case> {};

TEST_P(EntryWindow, is) {
  const Case& c = GetParam();
  auto w = window_of(c.code, c.after);
  ASSERT_TRUE(w) << w.error().message();
  EXPECT_EQ(w->start, kAddr + c.skipped);
  EXPECT_EQ(w->length, c.length);
  EXPECT_EQ(w->step, c.step);
  EXPECT_EQ(w->padding, c.padding);
  EXPECT_EQ(w->needs_proof, c.needs_proof);
}

const Case kCases[] = {
    {"nop5", "0f 1f 44 00 00 55 c3", "", 0, 5, Step::kNop, 0, false},
    {"nop5_behind_endbr64", "f3 0f 1e fa 0f 1f 44 00 00 c3", "", 4, 5, Step::kNop, 0, false},
    {"five_short_nops", "90 90 90 90 90 55 c3", "", 0, 5, Step::kWindow, 0, true},
    {"one_instruction", "b8 01 00 00 00 c3", "", 0, 5, Step::kSingle, 0, false},
    {"one_long_instruction", "48 b8 00 00 00 00 00 00 00 00 c3", "", 0, 10, Step::kSingle, 0, false},
    {"tail_jump", "e9 00 10 00 00", "", 0, 5, Step::kSingle, 0, false},
    {"several", "55 48 89 e5 53 c3", "", 0, 5, Step::kWindow, 0, true},
    {"several_behind_endbr64", "f3 0f 1e fa 41 57 41 56 41 55 c3", "", 4, 6, Step::kWindow, 0, true},
    {"ending_in_jcc", "48 85 ff 74 10 c3", "", 0, 5, Step::kWindow, 0, true},
    {"ending_in_call", "50 e8 00 10 00 00", "", 0, 6, Step::kWindow, 0, true},
    {"ending_in_ret", "48 31 c0 f3 c3", "", 0, 5, Step::kWindow, 0, true},
    {"ret_and_nops", "31 c0 c3", "0f 1f 00", 0, 3, Step::kWindow, 2, true},
    {"ret_and_long_nop", "c3", "66 2e 0f 1f 84 00 00 00 00 00", 0, 1, Step::kWindow, 4, true},
    {"ret_and_int3", "f3 0f 1e fa c3", "cc cc cc cc", 4, 1, Step::kWindow, 4, true},
    {"short_jmp_and_nops", "eb 80", "90 66 90 90", 0, 2, Step::kWindow, 3, true},
};

INSTANTIATE_TEST_SUITE_P(Table, EntryWindow, ::testing::ValuesIn(kCases),
                         [](const auto& p) { return p.param.name; });

struct Refusal {
  const char* name;
  const char* code;
  const char* after;
  const char* reason;
};

class EntryWindowRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(EntryWindowRefuses, with_reason) {
  auto w = window_of(GetParam().code, GetParam().after);
  ASSERT_FALSE(w);
  EXPECT_EQ(w.error().kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(w.error().message(), HasSubstr(GetParam().reason));
}

const Refusal kRefusals[] = {
    {"empty", "", "", "shorter than the jump"},
    {"only_endbr64", "f3 0f 1e fa", "90 90 90 90 90", "shorter than the jump"},
    {"ret_without_padding", "31 c0 c3", "55 48 89", "shorter than the jump"},
    {"ret_with_too_little_padding", "31 c0 c3", "90", "shorter than the jump"},
    {"padding_that_is_cut", "31 c0 c3", "0f 1f", "shorter than the jump"},
    {"zeroes_are_no_padding", "31 c0 c3", "00 00 00 00", "shorter than the jump"},
    {"falls_into_the_next_function", "31 c0", "90 90 90", "shorter than the jump"},
    {"code_behind_an_early_ret", "31 c0 c3 31 c0 c3", "", "ret before there is room"},
    {"call_not_last", "ff d0 48 89 c7 c3", "", "call in the middle of the replaced bytes"},
    {"trap", "0f 0b", "90 90 90", "trap instruction (ud2)"},
    {"undecodable", "55 06 00 00 00 00", "", "no instruction"},
    {"cut_instruction", "55 b8 00 00", "", "no instruction"},
};

INSTANTIATE_TEST_SUITE_P(Table, EntryWindowRefuses, ::testing::ValuesIn(kRefusals),
                         [](const auto& p) { return p.param.name; });

TEST(EntryWindowOptions, go_gets_single_instructions_only) {
  EXPECT_TRUE(window_of("b8 01 00 00 00 c3", "", {.go = true}));
  auto w = window_of("55 48 89 e5 53 c3", "", {.go = true});
  ASSERT_FALSE(w);
  EXPECT_THAT(w.error().message(), HasSubstr("no single instruction"));
}

TEST(EntryWindowOptions, shadow_stack_refuses_a_displaced_call) {
  EXPECT_TRUE(window_of("e8 00 10 00 00 c3"));
  EXPECT_FALSE(window_of("e8 00 10 00 00 c3", "", {.shadow_stack = true}));
}

TEST(EntryWindowOptions, jump_stays_in_one_page) {
  EXPECT_TRUE(window_of("b8 01 00 00 00 c3", "", {}, TargetAddr(0x401ffb)));
  auto w = window_of("b8 01 00 00 00 c3", "", {}, TargetAddr(0x401ffc));
  ASSERT_FALSE(w);
  EXPECT_EQ(w.error().message(), "the jump would cross a page boundary");
}

TEST(EntryWindowFacts, flags) {
  EXPECT_FALSE(window_of("48 85 ff 74 10 c3")->flags_live);
  EXPECT_TRUE(window_of("0f 84 00 10 00 00 c3")->flags_live);
}

TEST(EntryWindowFacts, self_branch) {
  EXPECT_FALSE(window_of("b8 01 00 00 00 c3")->self_branch);
  EXPECT_TRUE(window_of("b8 01 00 00 00 eb f9")->self_branch);
  EXPECT_TRUE(window_of("b8 01 00 00 00 0f 85 f5 ff ff ff c3")->self_branch);
  EXPECT_TRUE(window_of("b8 01 00 00 00 e2 f9 c3")->self_branch);
  EXPECT_TRUE(window_of("ff c9 75 fc 90 c3")->self_branch);                  // inside the window
  EXPECT_TRUE(window_of("f3 0f 1e fa b8 01 00 00 00 eb f5")->self_branch);   // to the endbr64
  EXPECT_FALSE(window_of("b8 01 00 00 00 e8 f6 ff ff ff c3")->self_branch);  // recursion
  EXPECT_FALSE(window_of("b8 01 00 00 00 b8 00 00 eb f6 c3")->self_branch);  // bytes of an immediate
}

// What only looks must not come to another verdict.
TEST(EntryWindowOptions, verdict_only_changes_no_verdict) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> code(random() % 24);
    for (auto& b : code) b = static_cast<uint8_t>(random());
    auto whole = entry_window({code, kAddr, {}});
    auto quick = entry_window({code, kAddr, {}}, {.verdict_only = true});
    ASSERT_EQ(whole.has_value(), quick.has_value());
    if (!whole) {
      EXPECT_EQ(whole.error().message(), quick.error().message());
    } else {
      EXPECT_EQ(whole->step, quick->step);
      EXPECT_EQ(whole->end(), quick->end());
      EXPECT_EQ(whole->needs_proof, quick->needs_proof);
    }
  }
}

// Whatever the bytes, an accepted window keeps its promises.
TEST(EntryWindowFacts, random_bytes) {
  std::mt19937 random(3);
  size_t accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> code(random() % 24), after(random() % 8);
    for (auto& b : code) b = static_cast<uint8_t>(random());
    for (auto& b : after) b = random() % 4 ? 0x90 : static_cast<uint8_t>(random());
    auto w = entry_window({code, kAddr, after});
    if (!w) continue;
    ++accepted;
    EXPECT_GE(w->length + w->padding, static_cast<int>(kJumpLength));
    EXPECT_LE(w->end(), kAddr + code.size() + after.size());
    EXPECT_EQ(w->needs_proof, w->step == Step::kWindow);
    std::span<const uint8_t> moved(code.data() + (w->start - kAddr), w->length);
    EXPECT_TRUE(relocate(moved, w->start, w->start + (1 << 20)));
  }
  EXPECT_GT(accepted, 1000u);
}

}  // namespace
}  // namespace blip::x86
