// SPDX-License-Identifier: MIT
#include "script/types/place_text.h"

#include <gtest/gtest.h>

namespace blip::script {
namespace {

Place place(Place::Kind kind, std::vector<Node> nodes) {
  return {.kind = kind, .code = {.nodes = std::move(nodes), .texts = {}}, .pieces = {}};
}

constexpr Node reg(uint64_t number) { return {.op = Op::kRegister, .value = number}; }
constexpr Node constant(uint64_t value) { return {.op = Op::kConstant, .value = value}; }

TEST(PlaceText, says_where_a_value_is) {
  using Kind = Place::Kind;
  EXPECT_EQ(place_text({}), "optimized out");
  EXPECT_EQ(place_text(place(Kind::kValue, {reg(7)})), "rdi");
  EXPECT_EQ(place_text(place(Kind::kValue, {constant(static_cast<uint64_t>(-3))})), "constant -3");
  EXPECT_EQ(place_text(place(Kind::kAddress, {constant(0x4040)})), "memory 0x4040");
  const Node sum{.op = Op::kAdd, .a = 0, .b = 1};
  EXPECT_EQ(place_text(place(Kind::kAddress, {reg(4), constant(16), sum})), "stack [rsp+0x10]");
  EXPECT_EQ(place_text(place(Kind::kAddress, {reg(5), constant(static_cast<uint64_t>(-20)), sum})),
            "stack [rbp-0x14]");
  EXPECT_EQ(place_text(place(Kind::kAddress, {reg(3)})), "memory [rbx]");
  EXPECT_EQ(place_text(place(Kind::kValue, {reg(3), {.op = Op::kLoad, .a = 0}})), "[rbx]");
  EXPECT_EQ(place_text(place(Kind::kValue, {reg(0), reg(1), {.op = Op::kMul, .a = 0, .b = 1}})), "computed");
  Place parts{.kind = Kind::kPieces};
  parts.pieces = {{place(Kind::kValue, {reg(7)}), 8}, {{}, 4}};
  EXPECT_EQ(place_text(parts), "8 bytes rdi, 4 bytes optimized out");
}

}  // namespace
}  // namespace blip::script
