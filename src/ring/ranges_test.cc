// SPDX-License-Identifier: MIT
// The steps of the valid ranges, one thread at a time; safe_reads_test.cc lets them race.
#include "ring/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ring/range_publisher.h"
#include "ring/test_region.h"

namespace blip::ring {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 1, .class_count = 2, .ranges = true};

AddrRange range(uint64_t begin, uint64_t end) { return {TargetAddr(begin), TargetAddr(end)}; }

class Ranges : public testing::Test {
 protected:
  Ranges() { region_.gate()->own_ranges = 1; }

  void publish(const std::vector<AddrRange>& ranges) {
    const auto look = publisher_.begin();
    ASSERT_TRUE(look);
    ASSERT_TRUE(publisher_.publish(*look, ranges, TargetAddr(0)));
  }
  uint64_t hint(uint32_t index = 0) const {
    return reinterpret_cast<const uint64_t*>(reinterpret_cast<const uint8_t*>(region_.gate()) +
                                             abi::kRangeHintsOffset)[index];
  }
  // As a section does it: docs/design/safe_reads.md.
  bool readable(uint64_t addr, uint64_t size) const {
    const auto* entry = reinterpret_cast<const abi::ValidRange*>(control() + (hint() >> 32));
    return addr >= entry->start && abi::range_publication(ranges().word) == static_cast<uint32_t>(hint()) &&
           entry->end >= addr && entry->end - addr >= size;
  }
  bool finds(uint64_t addr, uint64_t size = 1) const {
    return find_range(control(), addr, 0) && readable(addr, size);
  }
  void unmap(uint64_t begin, uint64_t end) const {
    ASSERT_TRUE(begin_unmap(control(), begin, end));
    end_unmap(control());
  }
  uint8_t* control() const { return region_.region(); }
  abi::RangeControl& ranges() const { return *range_control(control()); }

  TestRegion region_{kGeometry};
  RangePublisher publisher_{kGeometry, region_.region()};
};

TEST_F(Ranges, nothing_is_readable_at_first) {
  EXPECT_FALSE(finds(0x1000));
  EXPECT_FALSE(finds(0));
  EXPECT_EQ(publisher_.misses(), 2u);
}

TEST_F(Ranges, what_is_published_is_found_to_its_last_byte) {
  publish({range(0x1000, 0x3000), range(0x5000, 0x6000), range(0x6000, 0x7000)});
  EXPECT_FALSE(finds(0xfff));
  EXPECT_TRUE(finds(0x1000, 0x2000));
  EXPECT_FALSE(finds(0x1001, 0x2000));
  EXPECT_TRUE(finds(0x2fff));
  EXPECT_FALSE(finds(0x3000));
  EXPECT_FALSE(finds(0x4fff));
  EXPECT_TRUE(finds(0x5000));
  EXPECT_FALSE(finds(0x5fff, 2));  // in two ranges: the slow way
  EXPECT_TRUE(finds(0x6fff));
  EXPECT_FALSE(finds(0x7000));
  EXPECT_FALSE(finds(UINT64_MAX));
}

TEST_F(Ranges, a_hint_is_good_for_one_publication) {
  publish({range(0x1000, 0x3000)});
  EXPECT_TRUE(finds(0x1000));
  publish({range(0x1000, 0x3000)});
  EXPECT_FALSE(readable(0x1000, 1));
  EXPECT_TRUE(finds(0x1000));
}

TEST_F(Ranges, what_goes_takes_the_rest_of_its_range_along) {
  publish({range(0x1000, 0x8000), range(0x9000, 0xa000)});
  unmap(0x3000, 0x4000);
  EXPECT_TRUE(finds(0x2fff));
  EXPECT_FALSE(finds(0x2fff, 2));
  EXPECT_FALSE(finds(0x3000));
  EXPECT_FALSE(finds(0x5000));
  EXPECT_TRUE(finds(0x9000));
}

TEST_F(Ranges, what_goes_across_ranges) {
  publish({range(0x1000, 0x3000), range(0x4000, 0x5000), range(0x6000, 0x8000), range(0x8000, 0x9000)});
  unmap(0x2000, 0x8000);
  EXPECT_TRUE(finds(0x1fff));
  for (uint64_t gone : {0x2000, 0x4000, 0x4fff, 0x6000, 0x7fff}) EXPECT_FALSE(finds(gone)) << gone;
  EXPECT_TRUE(finds(0x8000));
}

TEST_F(Ranges, a_hint_from_before_sees_the_cut) {
  publish({range(0x1000, 0x3000)});
  ASSERT_TRUE(finds(0x2000));
  unmap(0x2000, 0x3000);
  EXPECT_FALSE(readable(0x2000, 1));
  EXPECT_TRUE(readable(0x1fff, 1));
}

TEST_F(Ranges, empty_and_endless_pieces) {
  publish({range(0x1000, 0x3000), range(0x7fff'ffff'e000, 0x7fff'ffff'f000)});
  unmap(0x2000, 0x2000);
  EXPECT_TRUE(finds(0x2000));
  unmap(0x2000, UINT64_MAX);
  EXPECT_FALSE(finds(0x2000));
  EXPECT_FALSE(finds(0x7fff'ffff'e000));
  EXPECT_TRUE(finds(0x1000));
  unmap(0, UINT64_MAX);
  EXPECT_FALSE(finds(0x1000));
}

TEST_F(Ranges, nothing_is_published_while_a_call_is_under_way) {
  ASSERT_TRUE(begin_unmap(control(), 0x1000, 0x2000));
  EXPECT_FALSE(publisher_.begin());
  end_unmap(control());
  EXPECT_TRUE(publisher_.begin());
}

TEST_F(Ranges, nothing_is_published_if_a_call_began_since_the_look) {
  const auto look = publisher_.begin();
  ASSERT_TRUE(look);
  unmap(0x1000, 0x2000);
  const AddrRange seen[] = {range(0x1000, 0x2000)};
  EXPECT_FALSE(publisher_.publish(*look, seen, TargetAddr(0)));
  EXPECT_FALSE(finds(0x1000));
}

TEST_F(Ranges, more_than_a_table_holds) {
  std::vector<AddrRange> many;
  for (uint64_t i = 1; i <= abi::kMaxRanges + 10; ++i) many.push_back(range(i * 0x2000, i * 0x2000 + 0x1000));
  publish(many);
  EXPECT_TRUE(finds(abi::kMaxRanges * 0x2000));
  EXPECT_FALSE(finds((abi::kMaxRanges + 1) * 0x2000));
  unmap(abi::kMaxRanges * 0x2000, UINT64_MAX);
  EXPECT_FALSE(finds(abi::kMaxRanges * 0x2000));
}

TEST_F(Ranges, the_count_of_publications_wraps_and_is_never_none) {
  ranges().word = 7 * abi::kRangeGeneration | 0xffff'fffe;
  for (uint64_t i = 1; i < 5; ++i) {
    publish({range(i << 12, (i + 1) << 12)});
    EXPECT_TRUE(finds(i << 12)) << i;
    EXPECT_FALSE(finds((i + 1) << 12)) << i;
    EXPECT_EQ(ranges().word >> 32, 7u);
  }
}

TEST_F(Ranges, a_child_of_a_fork_reads_nothing_and_takes_nothing_away) {
  publish({range(0x1000, 0x2000)});
  region_.gate()->own_ranges = 0;
  EXPECT_FALSE(find_range(control(), 0x1000, 0));
  EXPECT_EQ(hint(), 0u);
  EXPECT_FALSE(readable(0x1000, 1));
  EXPECT_FALSE(begin_unmap(control(), 0x1000, 0x2000));
  region_.gate()->own_ranges = 1;
  EXPECT_TRUE(finds(0x1000));
}

TEST_F(Ranges, closed_they_stay_empty) {
  publish({range(0x1000, 0x2000)});
  close_ranges(control());
  EXPECT_TRUE(publisher_.is_closed());
  EXPECT_FALSE(finds(0x1000));
  EXPECT_FALSE(publisher_.begin());
  EXPECT_FALSE(begin_unmap(control(), 0x1000, 0x2000));
  EXPECT_EQ(ranges().pending, 0u);
  close_ranges(control());
}

TEST_F(Ranges, hints_lie_apart) {
  publish({range(0x1000, 0x2000), range(0x3000, 0x4000)});
  ASSERT_TRUE(find_range(control(), 0x1000, 3));
  ASSERT_TRUE(find_range(control(), 0x3000, 255));
  EXPECT_EQ(hint(255) - hint(3), sizeof(abi::ValidRange) << 32);
  EXPECT_EQ(hint(0), 0u);
}

TEST(RangeGeometry, lies_in_front_of_the_rings_or_nowhere) {
  abi::Geometry g = kGeometry;
  EXPECT_GE(g.shared_ring_offset() - g.ranges_offset(), sizeof(abi::RangeControl));
  g.ranges = false;
  EXPECT_EQ(g.shared_ring_offset(), g.ranges_offset());
  EXPECT_EQ(TestRegion(g).header()->area(abi::AreaId::kRanges), abi::Area{});
  EXPECT_EQ(range_control(TestRegion(g).region()), nullptr);
}

}  // namespace
}  // namespace blip::ring
