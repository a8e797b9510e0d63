// SPDX-License-Identifier: MIT
#include "elf/cfa_rules.h"

#include <gtest/gtest.h>

#include "elf/landing_pads.h"
#include "elf/test_self.h"

namespace blip::elf {
namespace {

using Base = CfaRule::Base;

const std::vector<uint8_t> kInitial = {0x0c, 7, 8, 0x90, 1};  // def_cfa rsp, 8; offset rip, 1

std::string rows(const std::vector<uint8_t>& instructions) {
  const Frame frame{.range = {FileAddr(0x1000), FileAddr(0x1100)},
                    .initial = kInitial,
                    .instructions = instructions,
                    .code_alignment = 1,
                    .data_alignment = -8};
  std::string text;
  for (const CfaRow& row : cfa_rows(frame)) {
    text += text.empty() ? "" : ", ";
    text += std::to_string(row.begin - FileAddr(0x1000)) + ":";
    text += row.rule.base == Base::kRsp ? "rsp" : row.rule.base == Base::kRbp ? "rbp" : "other";
    text += "+" + std::to_string(row.rule.offset);
  }
  return text;
}

TEST(CfaRules, the_first_row_is_the_cies) { EXPECT_EQ(rows({}), "0:rsp+8"); }

TEST(CfaRules, push_rbp_and_mov_rsp_rbp) {
  // advance 1; def_cfa_offset 16; offset rbp, 2; advance 3; def_cfa_register rbp; advance 16; def_cfa rsp, 8
  EXPECT_EQ(rows({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0c, 7, 8}),
            "0:rsp+8, 1:rsp+16, 4:rbp+16, 20:rsp+8");
}

TEST(CfaRules, remembered_states_come_back) {
  // advance 4; def_cfa_offset 32; remember; advance 4; def_cfa_offset 8; advance 1; restore
  EXPECT_EQ(rows({0x44, 0x0e, 32, 0x0a, 0x44, 0x0e, 8, 0x41, 0x0b}), "0:rsp+8, 4:rsp+32, 8:rsp+8, 9:rsp+32");
}

TEST(CfaRules, far_locations_expressions_and_factored_offsets) {
  // advance1 100; expression of 2 bytes; advance2 0x10; def_cfa_sf rsp, -3
  EXPECT_EQ(rows({0x02, 100, 0x0f, 2, 0x77, 8, 0x03, 0x10, 0, 0x12, 7, 0x7d}),
            "0:rsp+8, 100:other+0, 116:rsp+24");
}

TEST(CfaRules, what_is_not_understood_gives_no_rows) {
  EXPECT_EQ(rows({0x3f}), "");         // no such instruction
  EXPECT_EQ(rows({0x0b}), "");         // nothing was remembered
  EXPECT_EQ(rows({0x0e}), "");         // cut short
  EXPECT_EQ(rows({0x0f, 99, 1}), "");  // an expression longer than the table
}

TEST(CfaRules, every_frame_of_this_program_is_read_and_begins_at_a_call) {
  CfaTable table(test_self());
  size_t read = 0, at_call = 0, all = 0;
  for (const FileRange& range : frame_ranges(test_self())) {
    if (test_self().section_at(range.begin)->name.starts_with(".plt")) continue;
    ++all;
    const auto found = table.rows_at(range.begin);
    read += found.has_value();
    if (!found) continue;
    EXPECT_EQ(found->rows.front().begin, range.begin);
    at_call += CfaTable::row_at(found->rows, range.begin)->rule == CfaRule{Base::kRsp, 8};
  }
  EXPECT_EQ(read, all);
  EXPECT_GT(at_call * 10, all * 5);  // the others are cold parts
  EXPECT_FALSE(table.rows_at(FileAddr(0)));
}

}  // namespace
}  // namespace blip::elf
