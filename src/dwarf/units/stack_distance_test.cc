// SPDX-License-Identifier: MIT
#include "dwarf/units/stack_distance.h"

#include <gtest/gtest.h>

#include "script/convention/sysv_abi.h"

namespace blip::dwarf {
namespace {

using script::Place;

TEST(StackDistance, nothing_is_known_below_the_red_zone) {
  EXPECT_EQ(without_lost(script::entry_stack_slot(-128)).kind, Place::Kind::kAddress);
  EXPECT_EQ(without_lost(script::entry_stack_slot(-136)).kind, Place::Kind::kOptimizedOut);
  EXPECT_EQ(without_lost(script::entry_stack_slot(16)).kind, Place::Kind::kAddress);
  Place both{.kind = Place::Kind::kPieces};
  both.pieces.push_back({script::entry_stack_slot(-8), 8});
  both.pieces.push_back({script::entry_stack_slot(-200), 8});
  const Place left = without_lost(both);
  EXPECT_EQ(left.pieces[0].place.kind, Place::Kind::kAddress);
  EXPECT_EQ(left.pieces[1].place.kind, Place::Kind::kOptimizedOut);
}

// (rbp - 40) & -32, as gcc tells a variable of an aligned frame.
TEST(StackDistance, rbp_and_addresses_that_are_rounded_down) {
  Place place{.kind = Place::Kind::kAddress};
  const uint32_t rbp = place.code.add({.op = script::Op::kRegister, .value = 5});
  const uint32_t some = place.code.add({.op = script::Op::kSub, .a = rbp, .b = place.code.constant(40)});
  place.code.add({.op = script::Op::kAnd, .a = some, .b = place.code.constant(static_cast<uint64_t>(-32))});
  EXPECT_EQ(without_lost(place).kind, Place::Kind::kAddress);
  EXPECT_EQ(without_lost(place, 0).kind, Place::Kind::kAddress);
  EXPECT_EQ(without_lost(place, -57).kind, Place::Kind::kAddress);
  EXPECT_EQ(without_lost(place, -58).kind, Place::Kind::kOptimizedOut);
}

}  // namespace
}  // namespace blip::dwarf
