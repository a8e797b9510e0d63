// SPDX-License-Identifier: MIT
#include "x86/trampoline_space.h"

#include <gtest/gtest.h>

namespace blip::x86 {
namespace {

constexpr TargetAddr kFree(0x10000);

AddrRange range(uint64_t begin, uint64_t end) { return {TargetAddr(begin), TargetAddr(end)}; }

TEST(TrampolineSpace, only_where_memory_is_free) {
  TrampolineSpace space({{kFree, kFree + 0x2000}}, 8);
  EXPECT_FALSE(space.find(range(0x5000, 0x6000)));
  EXPECT_FALSE(space.find(range(0x12000, 0x20000)));
  EXPECT_EQ(space.find(range(0x5000, 0x20000)), kFree);
  EXPECT_EQ(space.find(range(0x10123, 0x10124)), kFree + 0x123);
}

TEST(TrampolineSpace, none_crosses_a_page) {
  TrampolineSpace space({{kFree, kFree + 0x2000}}, 8);
  EXPECT_FALSE(space.find(range(0x10ffc, 0x11000)));
  EXPECT_EQ(space.find(range(0x10ffb, 0x10ffc)), kFree + 0xffb);
  EXPECT_EQ(space.find(range(0x10ffc, 0x11100)), kFree + 0x1000);
  EXPECT_FALSE(space.find(range(0x11ffc, 0x12000)));
}

TEST(TrampolineSpace, they_do_not_overlap) {
  TrampolineSpace space({{kFree, kFree + 0x1000}}, 8);
  for (int i = 0; i < 4096 / 5; ++i) {
    const auto at = space.find(range(0x10000, 0x11000));
    ASSERT_TRUE(at) << i;
    space.take(*at);
  }
  EXPECT_FALSE(space.find(range(0x10000, 0x11000)));
  EXPECT_EQ(space.pages(), 1u);
}

TEST(TrampolineSpace, pages_in_use_come_first_and_are_limited) {
  TrampolineSpace space({{kFree, kFree + 0x100000}}, 1);
  space.take(kFree + 0x5010);
  EXPECT_EQ(space.find(range(0x10000, 0x110000)), kFree + 0x5000);
  EXPECT_FALSE(space.find(range(0x10000, 0x14000))) << "that would be a second page";
}

TEST(TrampolineSpace, nothing_in_an_empty_range) {
  TrampolineSpace space({{kFree, kFree + 0x1000}}, 8);
  EXPECT_FALSE(space.find({}));
}

}  // namespace
}  // namespace blip::x86
