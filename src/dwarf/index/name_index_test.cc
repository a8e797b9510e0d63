// SPDX-License-Identifier: MIT
#include "dwarf/index/name_index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dwarf/index/name_hash.h"

namespace blip::dwarf {
namespace {

constexpr uint64_t kFingerprint = 77;

NameTables sample() {
  NameTables tables{.fingerprint = kFingerprint};
  for (uint64_t i = 0; i < 300; ++i) tables.units.push_back({.entry = 100 * i});
  tables.ranges = {{{FileAddr(0x1000), FileAddr(0x2000)}, 4}, {{FileAddr(0x2000), FileAddr(0x2100)}, 299}};
  std::vector<uint64_t> inlined;
  for (const uint64_t unit : {0, 1, 298, 299}) inlined.push_back(uint64_t{name_hash("f")} << 32 | unit);
  inlined.push_back(uint64_t{name_hash("g")} << 32 | 7);
  std::sort(inlined.begin(), inlined.end());
  tables.names[static_cast<size_t>(IndexedNames::kInlined)] = inlined;
  tables.origins = {{50, 3}, {50, 9}, {60, 1}};
  return tables;
}

// Whatever bytes the index has, every answer gives units that exist.
void ask_everything(const NameIndex& index) {
  for (const IndexedNames kind : {IndexedNames::kInlined, IndexedNames::kGlobal})
    for (const char* name : {"f", "g", ""})
      for (const uint32_t unit : index.units_with(kind, name).value_or(std::vector<uint32_t>{}))
        ASSERT_LT(unit, index.units().size());
  for (const uint32_t unit : index.units_referring_to(std::vector<uint64_t>{50, 60}))
    ASSERT_LT(unit, index.units().size());
  uint64_t sum = 0;
  for (const IndexedRange& range : index.ranges()) sum += range.unit;
  for (const IndexedUnit& unit : index.units()) sum += unit.entry;
  EXPECT_NE(sum, 1u);
}

TEST(NameIndex, finds_what_it_was_made_of) {
  const auto index = NameIndex::read(sample().bytes(), kFingerprint);
  ASSERT_TRUE(index);
  using Units = std::vector<uint32_t>;
  EXPECT_EQ(index->units_with(IndexedNames::kInlined, "f"), (Units{0, 1, 298, 299}));
  EXPECT_EQ(index->units_with(IndexedNames::kInlined, "g"), Units{7});
  EXPECT_EQ(index->units_with(IndexedNames::kInlined, "h"), Units{});
  EXPECT_EQ(index->units_with(IndexedNames::kGlobal, "f"), std::nullopt);  // it cannot tell
  EXPECT_EQ(index->units_referring_to(std::vector<uint64_t>{60, 50}), (Units{1, 3, 9}));
  EXPECT_EQ(index->units_referring_to(std::vector<uint64_t>{51}), Units{});
  EXPECT_EQ(index->units().size(), 300u);
  EXPECT_EQ(index->ranges()[1].unit, 299u);
}

TEST(NameIndex, other_sections_have_another) {
  EXPECT_FALSE(NameIndex::read(sample().bytes(), kFingerprint + 1));
  EXPECT_FALSE(NameIndex::read({}, 0));
}

// The cache tells by a checksum; this is for those who can make one.
TEST(NameIndex, any_bytes_are_read_in_bounds) {
  const std::vector<uint8_t> whole = sample().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto index =
        NameIndex::read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}, kFingerprint);
    if (index) ask_everything(*index);
  }
  for (size_t i = 0; i < whole.size(); ++i)
    for (const uint8_t bits : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> other = whole;
      other[i] ^= bits;
      if (const auto index = NameIndex::read(other, kFingerprint)) ask_everything(*index);
    }
}

}  // namespace
}  // namespace blip::dwarf
