// SPDX-License-Identifier: MIT
#include "abi/layout.h"

#include <gtest/gtest.h>

#include <set>

namespace blip::abi {
namespace {

Geometry with_everything() {
  return {.ring_count = 3,
          .class_count = 7,
          .subbuf_count = 4,
          .subbuf_size = 8192,
          .site_count = 100,
          .probe_count = 5,
          .slot_size = 128,
          .slot_count = 16,
          .schema_size = 5000,
          .latencies = true,
          .ranges = true,
          .stack_slots = 64,
          .stack_frames = 1000,
          .stack_depth = 16};
}

TEST(Areas, lie_one_behind_the_other) {
  for (const Geometry& g : {with_everything(), Geometry{.ring_count = 1, .class_count = 3}}) {
    uint64_t end = sizeof(DataHeader);
    for (const AreaId id : Geometry::kOrder) {
      const Area area = g.area(id);
      EXPECT_EQ(area.id, id);
      EXPECT_GE(area.offset, end);
      EXPECT_EQ(area.offset % Geometry::alignment_of(id), 0u);
      end = area.end();
    }
    EXPECT_EQ(g.region_size(), Geometry::align_up(end, kPageSize));
  }
}

TEST(Areas, each_is_in_the_order_once) {
  const std::set<AreaId> ids(std::begin(Geometry::kOrder), std::end(Geometry::kOrder));
  EXPECT_EQ(ids.size(), std::size(Geometry::kOrder));
  for (const AreaId id : ids) EXPECT_LT(static_cast<uint32_t>(id), kMaxAreas);
}

// The numbers of version 13, which had a chain of offsets: pads are made for them.
TEST(Areas, lie_where_the_chain_of_offsets_put_them) {
  const Geometry g = with_everything();
  EXPECT_EQ(g.area(AreaId::kRingControls).offset, 4096u);
  EXPECT_EQ(g.counters_offset(), 8192u);
  EXPECT_EQ(g.sites_offset(), 12288u);
  EXPECT_EQ(g.switches_offset(), 16384u);
  EXPECT_EQ(g.ranges_offset(), 20480u);
  EXPECT_EQ(g.shared_ring_offset(), 20480 + Geometry::align_up(sizeof(RangeControl), kPageSize));
  EXPECT_EQ(g.slots_offset(), g.shared_ring_offset() + kPageSize);
  EXPECT_EQ(g.ring_data_offset(), g.slots_offset() + kPageSize);
  EXPECT_EQ(g.schema_offset(), g.ring_data_offset() + 3 * 4 * 8192);
  EXPECT_EQ(g.latencies_offset(), g.schema_offset() + 2 * kPageSize);
  EXPECT_EQ(g.stacks_offset(), g.latencies_offset() + 4 * g.latency_row_size());
  EXPECT_EQ(g.rule_cache_offset(),
            g.stacks_offset() + Geometry::align_up(stack_table_size(64, 1000), kPageSize));
  EXPECT_EQ(g.pad_files_offset(), g.rule_cache_offset() + sizeof(RuleCache));
}

TEST(Areas, of_a_strange_header_are_inside_or_not_there) {
  constexpr uint64_t kSize = 1 << 20;
  const auto checked = [](Area area, AreaId wanted) {
    DataHeader header{};
    header.areas[static_cast<uint32_t>(wanted)] = area;
    return checked_area(header, wanted, kSize);
  };
  const Area good{AreaId::kSites, 0, kSize - 8, 8};
  EXPECT_EQ(checked(good, AreaId::kSites), good);
  EXPECT_EQ(checked({AreaId::kSites, 0, kSize - 8, 9}, AreaId::kSites), Area{});
  EXPECT_EQ(checked({AreaId::kSites, 0, kSize + 1, 0}, AreaId::kSites), Area{});
  EXPECT_EQ(checked({AreaId::kSites, 0, 8, UINT64_MAX - 4}, AreaId::kSites), Area{});
  EXPECT_EQ(checked(good, AreaId::kSchema), Area{});  // another one's entry
  EXPECT_EQ(checked({}, AreaId::kSchema), Area{});
}

}  // namespace
}  // namespace blip::abi
