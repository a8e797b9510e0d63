// SPDX-License-Identifier: MIT
#include "ring/region_view.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ring/test_region.h"

namespace blip::ring {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 2,
                                     .class_count = abi::kFirstClass + 1,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .site_count = 3,
                                     .probe_count = 5,
                                     .slot_size = 64,
                                     .slot_count = 16,
                                     .schema_size = 4096,
                                     .ranges = true};

// Mapped here, or read piece by piece as from another process.
class RegionViews : public testing::TestWithParam<bool> {
 protected:
  RegionView view() const {
    const std::span<const uint8_t> bytes(region_.region(), kGeometry.region_size());
    if (GetParam()) return RegionView(bytes);
    return RegionView(bytes.size(), [bytes](uint64_t offset, std::span<uint8_t> to) -> Status {
      if (offset >= bytes.size()) return Error(ErrorKind::kGone, "not there");
      std::memcpy(to.data(), bytes.data() + offset, to.size());
      return {};
    });
  }
  abi::DataHeader& header() { return *region_.header(); }
  std::optional<abi::Geometry> geometry() { return view().geometry(header()).value(); }

  TestRegion region_{kGeometry};
};

TEST_P(RegionViews, the_geometry_is_the_one_that_the_region_was_made_with) {
  const auto found = geometry();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->region_size(), kGeometry.region_size());
  EXPECT_EQ(found->slot_size, kGeometry.slot_size);
  EXPECT_EQ(found->ring_data_offset(), kGeometry.ring_data_offset());
  EXPECT_TRUE(found->ranges);
}

TEST_P(RegionViews, an_area_that_lies_elsewhere_makes_the_geometry_unknown) {
  header().areas[static_cast<size_t>(abi::AreaId::kSwitches)].offset += abi::kPageSize;
  EXPECT_FALSE(geometry());
}

TEST_P(RegionViews, a_slot_of_impossible_size_makes_the_geometry_unknown) {
  auto* shared = reinterpret_cast<abi::SharedRing*>(region_.region() + kGeometry.shared_ring_offset());
  shared->slot_shift = 40;
  EXPECT_FALSE(geometry());
}

TEST_P(RegionViews, entries_are_copied_from_where_the_header_says) {
  auto* sites = reinterpret_cast<abi::SiteEntry*>(region_.region() + kGeometry.sites_offset());
  sites[2].addr = 0x1234;
  const auto entries = view().entries<abi::SiteEntry>(header(), abi::AreaId::kSites, 3);
  ASSERT_TRUE(entries);
  EXPECT_EQ((*entries)[2].addr, 0x1234u);
}

TEST_P(RegionViews, more_entries_than_the_area_has_are_refused) {
  const size_t most = view().area(header(), abi::AreaId::kSites).size / sizeof(abi::SiteEntry);
  EXPECT_TRUE(view().entries<abi::SiteEntry>(header(), abi::AreaId::kSites, most));
  EXPECT_FALSE(view().entries<abi::SiteEntry>(header(), abi::AreaId::kSites, most + 1));
  EXPECT_FALSE(view().entries<abi::SiteEntry>(header(), abi::AreaId::kSites, SIZE_MAX));
}

TEST_P(RegionViews, nothing_outside_of_the_region_is_read) {
  const uint64_t size = kGeometry.region_size();
  uint8_t bytes[16];
  EXPECT_TRUE(view().read(size - sizeof bytes, bytes));
  EXPECT_FALSE(view().read(size - sizeof bytes + 1, bytes));
  EXPECT_FALSE(view().read(UINT64_MAX, bytes));
  header().areas[static_cast<size_t>(abi::AreaId::kSites)].size = size;
  EXPECT_EQ(view().area(header(), abi::AreaId::kSites).id, abi::AreaId::kNone);
}

INSTANTIATE_TEST_SUITE_P(Regions, RegionViews, testing::Bool(),
                         [](const auto& one) { return one.param ? "mapped" : "elsewhere"; });

}  // namespace
}  // namespace blip::ring
