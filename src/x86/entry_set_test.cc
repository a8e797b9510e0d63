// SPDX-License-Identifier: MIT
#include "x86/entry_set.h"

#include <gtest/gtest.h>

namespace blip::x86 {
namespace {

Window window(uint64_t start, uint8_t length, uint8_t padding = 0) {
  Window w;
  w.start = TargetAddr(start);
  w.length = length;
  w.padding = padding;
  return w;
}

TEST(InteriorSet, empty) {
  InteriorSet set({});
  EXPECT_FALSE(set.window_at(TargetAddr(0)));
  EXPECT_EQ(set.size(), 0u);
}

TEST(InteriorSet, interior_is_all_but_the_first_byte) {
  const Window windows[] = {window(0x2000, 6), window(0x1000, 2, 3)};
  InteriorSet set(windows);
  for (uint64_t a = 0xff0; a < 0x2020; ++a) {
    std::optional<size_t> expected;
    if (a > 0x1000 && a < 0x1005) expected = 1;
    if (a > 0x2000 && a < 0x2006) expected = 0;
    EXPECT_EQ(set.window_at(TargetAddr(a)), expected) << std::hex << a;
  }
}

TEST(InteriorSet, first_reason_stays) {
  const Window windows[] = {window(0x1000, 5), window(0x2000, 5)};
  InteriorSet set(windows);
  set.hit(TargetAddr(0x1003), TargetAddr(0x3000), "a branch");
  set.hit(TargetAddr(0x1004), "a landing pad");
  set.hit(TargetAddr(0x2000), TargetAddr(0x3000), "a branch");  // to the first byte: fine
  EXPECT_TRUE(set.refused(0));
  EXPECT_EQ(set.reason(0), "a branch at 0x3000 leads into the replaced bytes");
  EXPECT_FALSE(set.refused(1));
  set.hit(TargetAddr(0x2001), "a landing pad");
  EXPECT_EQ(set.reason(1), "a landing pad begins inside the replaced bytes");
}

TEST(InteriorSet, branch_of_the_window_itself_moves_along) {
  const Window windows[] = {window(0x1000, 6)};
  InteriorSet set(windows);
  set.hit(TargetAddr(0x1004), TargetAddr(0x1001), "a branch");
  EXPECT_FALSE(set.refused(0));
}

TEST(InteriorSet, overlapping_windows_are_all_refused) {
  const Window windows[] = {window(0x1000, 19), window(0x1002, 5), window(0x1002, 5)};
  InteriorSet set(windows);
  set.hit(TargetAddr(0x1004), TargetAddr(0x3000), "a branch");
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(set.refused(i)) << i;
}

}  // namespace
}  // namespace blip::x86
