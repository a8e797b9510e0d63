// SPDX-License-Identifier: MIT
#include "dwarf/expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

namespace blip::dwarf {
namespace {

using script::Node;
using script::Op;
using script::Place;

const Operations kCfa = {{.atom = DW_OP_bregx, .number = 7, .number2 = 16}};
const Operations kBase = {{.atom = DW_OP_call_frame_cfa}};

Place place(const Operations& operations, uint64_t size = 8, ExpressionSurroundings surroundings = {}) {
  surroundings.load_bias = 0x10000;
  return Expression(surroundings, nullptr).place(operations, size);
}

Place in_frame(const Operations& operations, uint64_t size = 8) {
  return place(operations, size, {.frame_base = &kBase, .cfa = &kCfa});
}

bool is_out(const Place& p) { return p.kind == Place::Kind::kOptimizedOut; }

TEST(Expression, addresses_are_those_of_the_process) {
  const Place p = place({{.atom = DW_OP_addr, .number = 0x2000}});
  EXPECT_EQ(p.kind, Place::Kind::kAddress);
  ASSERT_EQ(p.code.nodes.size(), 1u);
  EXPECT_EQ(p.code.nodes[0].value, 0x12000u);
}

TEST(Expression, distances_from_the_frame_are_added_up) {
  const Place p = in_frame({{.atom = DW_OP_fbreg, .number = static_cast<uint64_t>(-24)}});
  EXPECT_EQ(p.kind, Place::Kind::kAddress);
  ASSERT_EQ(p.code.nodes.size(), 3u);  // rsp + -8
  EXPECT_EQ(p.code.nodes[0], (Node{.op = Op::kRegister, .value = 4}));
  EXPECT_EQ(p.code.nodes[1].value, static_cast<uint64_t>(-8));
  EXPECT_EQ(p.code.nodes[2].op, Op::kAdd);
}

TEST(Expression, without_a_frame_there_is_no_place) {
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_fbreg}})));
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_call_frame_cfa}})));
  const Operations ring = {{.atom = DW_OP_fbreg}};
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_fbreg}}, 8, {.frame_base = &ring})));
}

TEST(Expression, registers_by_their_numbers) {
  EXPECT_EQ(place({{.atom = DW_OP_reg5}}).code.nodes[0], (Node{.op = Op::kRegister, .value = 7}));
  EXPECT_EQ(place({{.atom = DW_OP_reg18}}, 4).code.nodes[0],
            (Node{.op = Op::kVector, .width = 4, .value = 1}));
  EXPECT_EQ(place({{.atom = DW_OP_reg18}}, 16).pieces.size(), 2u);
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_reg16}})));                   // the return address
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_regx, .number = 33}}, 16)));  // st(0)
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_reg5}}, 16)));
}

TEST(Expression, the_stack_is_shuffled) {
  const Place p = place({{.atom = DW_OP_breg0},
                         {.atom = DW_OP_lit3},
                         {.atom = DW_OP_swap},
                         {.atom = DW_OP_minus},
                         {.atom = DW_OP_stack_value}});
  EXPECT_EQ(p.kind, Place::Kind::kValue);  // 3 - rax
  ASSERT_EQ(p.code.nodes.size(), 3u);
  const Node& last = p.code.nodes.back();
  EXPECT_EQ(last.op, Op::kSub);
  EXPECT_EQ(p.code.nodes[last.a].value, 3u);
  EXPECT_EQ(p.code.nodes[last.b].op, Op::kRegister);
}

TEST(Expression, pieces_that_are_not_told_are_out) {
  const Place p = place(
      {{.atom = DW_OP_piece, .number = 4}, {.atom = DW_OP_reg0}, {.atom = DW_OP_piece, .number = 4}}, 16);
  ASSERT_EQ(p.pieces.size(), 3u);
  EXPECT_TRUE(is_out(p.pieces[0].place));
  EXPECT_EQ(p.pieces[1].place.kind, Place::Kind::kValue);
  EXPECT_EQ(p.pieces[2].size, 8u);
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_piece, .number = 8}})));
}

TEST(Expression, thread_local_variables_need_the_modules_block) {
  const Operations variable = {{.atom = DW_OP_const8u, .number = 8}, {.atom = DW_OP_form_tls_address}};
  EXPECT_TRUE(is_out(place(variable)));
  const Place p = place(variable, 4, {.tls_offset = 64});
  ASSERT_EQ(p.code.nodes.size(), 3u);
  EXPECT_EQ(p.code.nodes[0].op, Op::kThreadPointer);
  EXPECT_EQ(p.code.nodes[1].value, static_cast<uint64_t>(-56));
}

// rdi == 0 ? 7 : rdi + 1
TEST(Expression, a_branch_selects) {
  const Operations choice = {{.atom = DW_OP_breg5, .offset = 0},
                             {.atom = DW_OP_bra, .number = 4, .offset = 2},
                             {.atom = DW_OP_lit7, .offset = 5},
                             {.atom = DW_OP_skip, .number = 3, .offset = 6},
                             {.atom = DW_OP_breg5, .number = 1, .offset = 9},
                             {.atom = DW_OP_stack_value, .offset = 11}};
  Operations to_the_value = choice;
  to_the_value[3].number = 2;
  const Place p = place(to_the_value, 4);
  ASSERT_EQ(p.kind, Place::Kind::kValue);
  const Node& select = p.code.nodes.back();
  ASSERT_EQ(select.op, Op::kSelect);
  EXPECT_EQ(p.code.nodes[select.a].op, Op::kRegister);
  EXPECT_EQ(p.code.nodes[select.b].op, Op::kAdd);
  EXPECT_EQ(p.code.nodes[select.c].value, 7u);
  EXPECT_TRUE(is_out(place(choice, 4))) << "a jump between operations";
  Operations back = to_the_value;
  back[3].number = static_cast<uint64_t>(-9);
  EXPECT_TRUE(is_out(place(back, 4))) << "a loop";
}

TEST(Expression, what_is_not_understood_is_out) {
  EXPECT_TRUE(is_out(place({})));
  for (uint8_t atom : std::initializer_list<uint8_t>{
           DW_OP_bra, DW_OP_skip, DW_OP_xderef, DW_OP_call2, DW_OP_plus, DW_OP_drop, DW_OP_deref,
           DW_OP_stack_value, DW_OP_entry_value, DW_OP_implicit_pointer, DW_OP_push_object_address, 0xff})
    EXPECT_TRUE(is_out(place({{.atom = atom}}))) << int{atom};
  EXPECT_TRUE(is_out(place({{.atom = DW_OP_reg0}, {.atom = DW_OP_lit1}, {.atom = DW_OP_plus}})));
  EXPECT_TRUE(is_out(place(Operations(100, {.atom = DW_OP_lit1}))));
  Operations deep = {{.atom = DW_OP_breg0}};
  deep.resize(60, {.atom = DW_OP_deref});
  EXPECT_TRUE(is_out(place(deep)));
}

}  // namespace
}  // namespace blip::dwarf
