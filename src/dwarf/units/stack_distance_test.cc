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

}  // namespace
}  // namespace blip::dwarf
