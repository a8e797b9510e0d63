// SPDX-License-Identifier: MIT
#include "unwind/rules.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <vector>

#include "unwind/expression.h"

namespace blip::unwind {
namespace {

using abi::UnwindRule;
using Bytes = std::vector<uint8_t>;

// The last row of a frame with these instructions.
UnwindRule last_rule(const Bytes& instructions, bool is_signal_frame = false) {
  const Bytes initial = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
  const elf::Frame frame{.range = {FileAddr(0x1000), FileAddr(0x1100)},
                         .initial = initial,
                         .instructions = instructions,
                         .code_alignment = 1,
                         .data_alignment = -8};
  const auto rows = elf::call_frame_rows(frame);
  return rows.empty() ? UnwindRule{} : rule_of(rows.back(), is_signal_frame);
}

constexpr UnwindRule kFromRsp = {.cfa_offset = 8, .base = UnwindRule::kRsp};

TEST(UnwindRules, of_an_entry) { EXPECT_EQ(last_rule({}), kFromRsp); }

TEST(UnwindRules, rbp_is_saved_and_comes_back) {
  const UnwindRule saved = {
      .cfa_offset = 16, .rbp_offset = -16, .base = UnwindRule::kRbp, .rbp = UnwindRule::kAtCfa};
  EXPECT_EQ(
      last_rule({0x41, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2, 0x43, DW_CFA_def_cfa_register, 6}),
      saved);
  EXPECT_EQ(last_rule({DW_CFA_offset | 6, 2, 0x41, DW_CFA_restore | 6}), kFromRsp);
  EXPECT_EQ(last_rule({DW_CFA_remember_state, DW_CFA_offset | 6, 2, 0x41, DW_CFA_restore_state}), kFromRsp);
  EXPECT_EQ(last_rule({DW_CFA_offset_extended_sf, 6, 2, 0x41, DW_CFA_same_value, 6}), kFromRsp);
}

// gcc writes this for a function that aligns its stack: the CFA is remembered at rbp - 8.
TEST(UnwindRules, of_an_aligned_stack) {
  const UnwindRule aligned = {
      .cfa_offset = -8, .base = UnwindRule::kRbp, .rbp = UnwindRule::kAtRbp, .flags = UnwindRule::kDeref};
  EXPECT_EQ(last_rule({DW_CFA_expression, 6, 2, DW_OP_breg6, 0, DW_CFA_def_cfa_expression, 3, DW_OP_breg6,
                       0x78, DW_OP_deref}),
            aligned);
  // Before that it is in r10, which is not followed.
  EXPECT_EQ(last_rule({DW_CFA_def_cfa, 10, 0}).base, UnwindRule::kUnsupported);
}

// OpenSSL writes this: the caller's rsp is kept on the stack.
TEST(UnwindRules, the_callers_rsp_in_memory) {
  const UnwindRule rule = {
      .cfa_offset = 64, .cfa_add = 8, .base = UnwindRule::kRsp, .flags = UnwindRule::kDeref};
  EXPECT_EQ(
      last_rule({DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xc0, 0, DW_OP_deref, DW_OP_plus_uconst, 8}),
      rule);
}

TEST(UnwindRules, of_the_plt) {
  Bytes plt = {DW_CFA_def_cfa_expression,
               11,
               DW_OP_breg7,
               8,
               DW_OP_breg16,
               0,
               DW_OP_lit15,
               DW_OP_and,
               DW_OP_lit11,
               DW_OP_ge,
               DW_OP_lit3,
               DW_OP_shl,
               DW_OP_plus};
  const UnwindRule rule = {.cfa_offset = 8, .cfa_add = 11, .base = UnwindRule::kPlt};
  EXPECT_EQ(last_rule(plt), rule);
  plt.back() = DW_OP_minus;
  EXPECT_EQ(last_rule(plt).base, UnwindRule::kUnsupported);
}

TEST(UnwindRules, of_a_signal_frame) {
  const Bytes glibc = {DW_CFA_def_cfa_expression, 4,  DW_OP_breg7, 0xa0,        1,    DW_OP_deref,  // 160
                       DW_CFA_expression,         6,  3,           DW_OP_breg7, 0xf8, 0,            // 120
                       DW_CFA_expression,         16, 3,           DW_OP_breg7, 0xa8, 1};           // 168
  EXPECT_EQ(last_rule(glibc, true), signal_rule());
  EXPECT_EQ(last_rule({}, true).base, UnwindRule::kUnsupported);
}

TEST(UnwindRules, where_it_ends) {
  EXPECT_EQ(last_rule({DW_CFA_undefined, 16}).base, UnwindRule::kOutermost);
  EXPECT_EQ(last_rule({DW_CFA_register, 16, 5}).base, UnwindRule::kUnsupported);  // vfork of glibc
  EXPECT_EQ(last_rule({DW_CFA_offset | 16, 2}).base, UnwindRule::kUnsupported);
  EXPECT_EQ(last_rule({DW_CFA_register, 6, 9}).rbp, UnwindRule::kLost);
  EXPECT_EQ(last_rule({DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x20}).base, UnwindRule::kUnsupported);
}

TEST(UnwindRules, expressions_cut_short_are_none) {
  for (const Bytes& bytes :
       {Bytes{}, Bytes{DW_OP_breg7}, Bytes{DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst},
        Bytes{DW_OP_breg7, 8, DW_OP_deref, DW_OP_deref}}) {
    EXPECT_FALSE(as_place(bytes));
    EXPECT_FALSE(as_plt(bytes));
  }
}

}  // namespace
}  // namespace blip::unwind
