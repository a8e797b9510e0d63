// SPDX-License-Identifier: MIT
// Records that say their own size, honest ones and others, in both rings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::ring {
namespace {

using testing::SizeIs;

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = 4,
                                     .subbuf_count = 2,
                                     .subbuf_size = 1 << 17,
                                     .slot_size = 128,
                                     .slot_count = 16};
constexpr uint32_t kLeast = 24, kMost = 104;
constexpr uint16_t kPlain = 1, kDynamic = 2, kLong = 3;
constexpr uint32_t kSizes[] = {0, 16, dynamic_size(kLeast, kMost), dynamic_size(16, 3072)};
constexpr uint64_t kFault = uint64_t{1} << abi::kHitFaultShift;
constexpr uint64_t kNow = uint64_t{1} << 40;

TEST(RecordSize, bounds_are_kept_apart) {
  EXPECT_EQ(least_size(kSizes[kDynamic]), kLeast);
  EXPECT_EQ(most_size(kSizes[kDynamic]), kMost);
  EXPECT_EQ(least_size(kSizes[kPlain]), 16u);
  EXPECT_EQ(most_size(kSizes[kPlain]), 16u);
  EXPECT_TRUE(is_valid_size(dynamic_size(16, abi::kMaxRecordSize)));
  for (uint32_t wrong :
       {dynamic_size(8, 16), dynamic_size(24, 16), dynamic_size(20, 24), dynamic_size(16, 20),
        dynamic_size(16, abi::kMaxRecordSize + 8), uint32_t{12}, abi::kMaxRecordSize + 8})
    EXPECT_FALSE(is_valid_size(wrong)) << wrong;
}

class DynamicSize : public testing::Test {
 protected:
  // Without its hit word if `size` is 8.
  void write(uint16_t class_id, uint32_t size, uint64_t hit_word) {
    uint64_t& pos = region_.ring_control(0)->pos;
    const uint64_t header = abi::make_header(class_id, kNow - 1000 + pos / 256);
    std::memcpy(region_.ring_data(0) + pos, &header, sizeof header);
    if (size > 8) std::memcpy(region_.ring_data(0) + pos + 8, &hit_word, sizeof hit_word);
    pos += size;
  }
  DrainStats drain() {
    return ring_.drain(collected_, [] { return kNow; });
  }
  void hit(uint64_t hit_word, uint64_t field = 0) {
    const Reservation r = reserve(region_.region(), kDynamic);
    ASSERT_NE(r.record, nullptr);
    std::memcpy(r.record + 8, &hit_word, sizeof hit_word);
    std::memcpy(r.record + 16, &field, sizeof field);
    commit(r);
  }

  TestRegion region_{kGeometry};
  RingReader ring_{kGeometry, region_.region(), 0, kSizes, 1};
  SharedRingReader shared_{kGeometry, region_.region(), kSizes, 1};
  Collector collected_;
};

TEST_F(DynamicSize, each_record_has_its_own) {
  for (uint32_t size = kLeast; size <= kMost; size += 8) {
    write(kDynamic, size, size | kFault << size % 48);
    write(kPlain, 16, size);
  }
  const DrainStats stats = drain();
  EXPECT_EQ(stats.malformed, 0u);
  ASSERT_THAT(collected_.events, SizeIs(2 * ((kMost - kLeast) / 8 + 1)));
  for (uint32_t i = 0; i < collected_.events.size(); i += 2) {
    EXPECT_EQ(collected_.events[i].words.size() * 8, kLeast + i / 2 * 8);
    EXPECT_EQ(collected_.events[i + 1].words[1], kLeast + i / 2 * 8);
  }
}

// A chunk ends in the middle of a record: behind its header, behind its hit word, anywhere.
TEST_F(DynamicSize, records_that_straddle_two_chunks) {
  uint64_t expected = 0;
  for (uint32_t size = 16;
       (region_.ring_control(0)->pos & (kGeometry.subbuf_size - 1)) + 3072 < kGeometry.subbuf_size;
       size = size + 8 > 3072 ? 16 : size + 8, ++expected)
    write(kLong, size, size);
  const DrainStats stats = drain();
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_EQ(stats.records, expected);
}

TEST_F(DynamicSize, a_header_at_the_end_of_a_chunk) {
  constexpr uint32_t kChunk = 1 << 16;
  write(kLong, 40, 40);
  while (region_.ring_control(0)->pos + 3072 < kChunk) write(kLong, 3072, 3072);
  const auto left = static_cast<uint32_t>(kChunk - 8 - region_.ring_control(0)->pos);
  write(kLong, left, left);
  write(kLong, 3072, 3072);
  write(kPlain, 16, 0);
  const DrainStats stats = drain();
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_EQ(collected_.events.back().class_id, kPlain);
}

TEST_F(DynamicSize, what_cannot_be_is_malformed) {
  for (uint64_t hit_word : {uint64_t{0}, uint64_t{kLeast - 8}, uint64_t{kMost + 8}, uint64_t{kLeast + 4},
                            uint64_t{0xffff}, uint64_t{0x8018}, kFault}) {
    SCOPED_TRACE(hit_word);
    region_.format();
    RingReader reader(kGeometry, region_.region(), 0, kSizes, 1);
    write(kDynamic, kLeast, hit_word);
    write(kPlain, 16, 0);
    const DrainStats stats = reader.drain(collected_, [] { return kNow; });
    EXPECT_EQ(stats.malformed, 1u);
    EXPECT_EQ(stats.records, 0u);
    EXPECT_EQ(region_.ring_control(0)->consumed, region_.ring_control(0)->pos);
  }
}

TEST_F(DynamicSize, longer_than_what_was_published_is_malformed) {
  for (uint32_t published : {8u, 16u, kLeast, kMost - 8}) {
    SCOPED_TRACE(published);
    region_.format();
    RingReader reader(kGeometry, region_.region(), 0, kSizes, 1);
    write(kDynamic, published, kMost);
    EXPECT_EQ(reader.drain(collected_, [] { return kNow; }).malformed, 1u);
  }
  EXPECT_THAT(collected_.events, SizeIs(0));
}

TEST_F(DynamicSize, in_the_shared_ring_too) {
  hit(kLeast, 7);
  hit(kMost | kFault);
  for (uint64_t wrong :
       {uint64_t{0}, uint64_t{kLeast - 8}, uint64_t{kMost + 8}, uint64_t{kLeast + 1}, uint64_t{0xfff8}})
    hit(wrong);
  hit(kLeast, 8);
  const DrainStats stats = shared_.finish(collected_);
  EXPECT_EQ(stats.malformed, 5u);
  ASSERT_THAT(collected_.events, SizeIs(3));
  EXPECT_THAT(collected_.events[0].words, SizeIs(kLeast / 8));
  EXPECT_EQ(collected_.events[0].words[2], 7u);
  EXPECT_THAT(collected_.events[1].words, SizeIs(kMost / 8));
  EXPECT_EQ(collected_.events[2].words[2], 8u);
}

// The largest would not fit a slot: such a class is an unknown one there.
TEST_F(DynamicSize, a_class_too_large_for_slots) {
  const Reservation r = reserve(region_.region(), kLong);
  const uint64_t hit_word = 16;
  std::memcpy(r.record + 8, &hit_word, sizeof hit_word);
  commit(r);
  EXPECT_EQ(shared_.finish(collected_).malformed, 1u);
}

}  // namespace
}  // namespace blip::ring
