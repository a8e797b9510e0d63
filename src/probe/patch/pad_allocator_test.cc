// SPDX-License-Identifier: MIT
#include "probe/patch/pad_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::probe {
namespace {

constexpr uint64_t kPage = abi::kPageSize;
constexpr TargetAddr kBase(0x10000000);

AddrRange range(uint64_t begin, uint64_t pages) {
  return {kBase + begin * kPage, kBase + (begin + pages) * kPage};
}
constexpr AddrRange kAnywhere{TargetAddr(0), TargetAddr(uint64_t{1} << 47)};
Neighbourhood area(uint64_t size, AddrRange reach = kAnywhere) { return {.reach = reach, .size = size}; }

class PadRooms : public testing::Test {
 protected:
  std::optional<std::vector<PadRoom>> take(std::vector<Neighbourhood> areas) { return all_.take(areas); }

  PadAllocator all_;
};

TEST_F(PadRooms, without_a_mapping_there_is_no_room) {
  EXPECT_FALSE(take({area(1)}));
  EXPECT_TRUE(take({})) << "nothing fits everywhere";
}

TEST_F(PadRooms, what_is_left_of_an_area_is_taken_page_by_page) {
  all_.add({range(0, 10), 3, 7 * kPage}, kPage + 1);
  const auto first = take({area(kPage - 1)});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->front().range, range(2, 1));
  EXPECT_EQ(first->front().file, 3u);
  EXPECT_EQ(first->front().offset, 9 * kPage);
  const auto second = take({area(7 * kPage)});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->front().range, range(3, 7));
  EXPECT_EQ(second->front().offset, 10 * kPage);
  EXPECT_FALSE(take({area(1)}));
}

TEST_F(PadRooms, an_area_that_is_full_has_nothing_left) {
  all_.add({range(0, 2), 0, 0}, 2 * kPage);
  EXPECT_FALSE(take({area(1)}));
}

TEST_F(PadRooms, only_within_reach) {
  all_.add({range(0, 4), 0, 0}, 0);
  all_.add({range(100, 8), 1, 0}, 0);
  EXPECT_EQ(take({area(kPage, range(90, 20))})->front().file, 1u);
  EXPECT_FALSE(take({area(kPage, range(1, 90))})) << "it would begin before what can be reached";
  EXPECT_FALSE(take({area(2 * kPage, range(0, 1))})) << "it would end behind it";
}

TEST_F(PadRooms, the_smallest_that_is_large_enough) {
  all_.add({range(0, 40), 0, 0}, 0);
  all_.add({range(100, 2), 1, 0}, 0);
  all_.add({range(200, 5), 2, 0}, 0);
  EXPECT_EQ(take({area(3 * kPage)})->front().file, 2u);
  EXPECT_EQ(take({area(2 * kPage)})->front().file, 1u);
  EXPECT_EQ(take({area(3 * kPage)})->front().file, 0u);
}

TEST_F(PadRooms, all_areas_or_none) {
  all_.add({range(0, 4), 0, 0}, 0);
  EXPECT_FALSE(take({area(3 * kPage), area(2 * kPage)}));
  const auto both = take({area(3 * kPage), area(kPage)});
  ASSERT_TRUE(both) << "nothing was taken before";
  EXPECT_EQ((*both)[0].range, range(0, 3));
  EXPECT_EQ((*both)[1].range, range(3, 1));
}

TEST_F(PadRooms, more_is_kept_ready_the_more_there_is) {
  const uint64_t least = all_.spare_for(kPage);
  EXPECT_GE(least, 64 * kPage);
  EXPECT_EQ(least % kPage, 0u);
  all_.add({range(0, 1 << 10), 0, 0}, kPage << 10);
  EXPECT_GT(all_.spare_for(kPage), least);
  all_.add({range(1 << 12, 1 << 20), 1, 0}, kPage << 20);
  EXPECT_LE(all_.spare_for(kPage), uint64_t{8} << 20) << "it must find a place";
}

}  // namespace
}  // namespace blip::probe
