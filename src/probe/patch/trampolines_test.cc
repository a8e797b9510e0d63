// SPDX-License-Identifier: MIT
#include "probe/patch/trampolines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "abi/layout.h"

namespace blip::probe {
namespace {

constexpr uint64_t kPage = abi::kPageSize;

std::vector<TargetAddr> at(std::initializer_list<uint64_t> values) {
  std::vector<TargetAddr> all;
  for (uint64_t v : values) all.emplace_back(v);
  return all;
}

TEST(Trampolines, pages_with_different_bytes_share_a_frame) {
  const auto layout = pack_trampolines(at({0x10000, 0x20005, 0x30ff0}));
  EXPECT_EQ(layout.frames, 1u);
  ASSERT_EQ(layout.runs.size(), 3u);
  EXPECT_EQ(*layout.offset_of(TargetAddr(0x20005)), 5u);
}

TEST(Trampolines, overlapping_bytes_need_another_frame) {
  const auto layout = pack_trampolines(at({0x10000, 0x20004, 0x30005}));
  EXPECT_EQ(layout.frames, 2u);
  EXPECT_EQ(*layout.offset_of(TargetAddr(0x20004)), kPage + 4);
  EXPECT_EQ(*layout.offset_of(TargetAddr(0x30005)), 5u);
}

TEST(Trampolines, neighbouring_pages_are_one_run) {
  const auto layout = pack_trampolines(at({0x12fff - 0x800, 0x11010, 0x13000}));
  ASSERT_EQ(layout.runs.size(), 1u);
  EXPECT_EQ(layout.runs[0].pages, (AddrRange{TargetAddr(0x11000), TargetAddr(0x14000)}));
  EXPECT_EQ(layout.frames, 3u);
}

TEST(Trampolines, one_that_crosses_a_page_has_both) {
  const auto layout = pack_trampolines(at({0x10ffd}));
  ASSERT_EQ(layout.runs.size(), 1u);
  EXPECT_EQ(layout.runs[0].pages.size(), 2 * kPage);
}

TEST(Trampolines, no_more_runs_than_allowed) {
  const auto layout = pack_trampolines(at({0x10000, 0x20000, 0x30000}), 2);
  EXPECT_EQ(layout.runs.size(), 2u);
  EXPECT_FALSE(layout.offset_of(TargetAddr(0x30000)));
  EXPECT_FALSE(layout.offset_of(TargetAddr(0x11000)));
}

// Whatever the entries: no two share a byte of memory.
TEST(Trampolines, random_entries_never_share_bytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::set<uint64_t> chosen;
    while (chosen.size() < 3000) {
      const uint64_t a = 0x100000 + random() % (round % 2 ? 4'000'000'000 : 400'000);
      const auto it = chosen.lower_bound(a - 4);
      if (it == chosen.end() || *it > a + 4) chosen.insert(a);
    }
    std::vector<TargetAddr> entries;
    for (uint64_t a : chosen) entries.emplace_back(a);
    const auto layout = pack_trampolines(entries);
    std::map<uint64_t, uint64_t> owner;
    for (TargetAddr entry : entries) {
      const auto offset = layout.offset_of(entry);
      ASSERT_TRUE(offset);
      ASSERT_LE(*offset + abi::kJumpSize, layout.frames * kPage);
      for (uint64_t k = 0; k < abi::kJumpSize; ++k)
        ASSERT_TRUE(owner.emplace(*offset + k, entry.value).second);
    }
    EXPECT_LT(layout.frames, round % 2 ? 40u : 110u);
  }
}

}  // namespace
}  // namespace blip::probe
