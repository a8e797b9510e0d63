// SPDX-License-Identifier: MIT
// RingReader on hand-made ring contents.
#include "ring/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ring/test_region.h"

namespace blip::ring {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr abi::Geometry kGeometry = {
    .ring_count = 2, .class_count = 4, .subbuf_count = 4, .subbuf_size = 4096};
constexpr uint32_t kSizes[] = {0, 16, 3072, 8};
constexpr uint64_t kNow = uint64_t{5} << 48 | 0x100000000;  // the 48-bit time has wrapped five times
constexpr uint64_t kSubbuf = kGeometry.subbuf_size;

uint64_t clock_at_now() { return kNow; }

// Plays the pads of one CPU: the stores of the protocol, without rseq.
class Writer {
 public:
  Writer(const TestRegion& region, uint32_t ring) : region_(region), ring_(ring) {}

  uint64_t& pos() { return region_.ring_control(ring_)->pos; }
  uint64_t& consumed() { return region_.ring_control(ring_)->consumed; }
  void put(uint64_t at, uint64_t word) {
    std::memcpy(region_.ring_data(ring_) + (at & (kGeometry.ring_size() - 1)), &word, sizeof word);
  }

  bool write(uint16_t class_id, uint64_t tsc, uint64_t field = 0) {
    const uint32_t size = kSizes[class_id];
    if ((pos() & (kSubbuf - 1)) + size >= kSubbuf && !switch_subbuf()) return false;
    put(pos(), abi::make_header(class_id, tsc));
    if (size > 8) put(pos() + 8, field);
    pos() += size;
    return true;
  }

  bool switch_subbuf() {
    const uint64_t next = (pos() / kSubbuf + 1) * kSubbuf;
    if (next + kSubbuf - consumed() > kGeometry.ring_size()) return false;
    put(pos(), abi::make_header(abi::kPaddingClass, 0));
    pos() = next;
    return true;
  }

 private:
  const TestRegion& region_;
  uint32_t ring_;
};

class RingReaderTest : public testing::Test {
 protected:
  RingReader reader() { return RingReader(kGeometry, region_.region(), 1, kSizes, kNow - 1'000'000); }
  DrainStats drain(RingReader& reader) {
    collected_.events.clear();
    return reader.drain(collected_, clock_at_now);
  }

  TestRegion region_{kGeometry};
  Writer writer_{region_, 1};
  Collector collected_;
};

TEST_F(RingReaderTest, an_empty_ring_gives_nothing) {
  RingReader r = reader();
  EXPECT_EQ(drain(r).records, 0u);
}

TEST_F(RingReaderTest, records_come_out_once_with_their_full_time) {
  RingReader r = reader();
  writer_.write(1, kNow - 100, 7);
  writer_.write(3, kNow - 90);
  const DrainStats stats = drain(r);
  EXPECT_EQ(stats.records, 2u);
  EXPECT_EQ(stats.bytes, 24u);
  EXPECT_EQ(stats.malformed, 0u);
  ASSERT_THAT(collected_.events, SizeIs(2));
  EXPECT_EQ(collected_.events[0], (Event{kNow - 100, 1, {abi::make_header(1, kNow - 100), 7}}));
  EXPECT_EQ(collected_.events[1], (Event{kNow - 90, 3, {abi::make_header(3, kNow - 90)}}));
  EXPECT_EQ(writer_.consumed(), writer_.pos());
  EXPECT_EQ(drain(r).records, 0u);
}

TEST_F(RingReaderTest, the_48_bit_time_may_wrap_between_two_records) {
  RingReader r(kGeometry, region_.region(), 1, kSizes);
  const uint64_t wrap = uint64_t{5} << 48;
  writer_.write(1, wrap - 10);
  writer_.write(1, wrap + 10);
  EXPECT_EQ(drain(r).malformed, 0u);
  ASSERT_THAT(collected_.events, SizeIs(2));
  EXPECT_EQ(collected_.events[0].tsc, wrap - 10);
  EXPECT_EQ(collected_.events[1].tsc, wrap + 10);
}

TEST_F(RingReaderTest, padding_leads_to_the_next_subbuffer) {
  RingReader r = reader();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer_.write(2, kNow - 100));
  EXPECT_FALSE(writer_.write(2, kNow));  // four sub-buffers, none drained
  EXPECT_EQ(drain(r).records, 4u);
  EXPECT_TRUE(writer_.write(2, kNow));
  const DrainStats stats = drain(r);
  EXPECT_EQ(stats.records, 1u);
  EXPECT_EQ(stats.malformed, 0u);
}

TEST_F(RingReaderTest, a_ring_just_switched_drains_to_the_boundary) {
  RingReader r = reader();
  writer_.write(1, kNow - 100);
  writer_.switch_subbuf();
  EXPECT_EQ(drain(r).records, 1u);
  EXPECT_EQ(writer_.consumed(), kSubbuf);
  writer_.switch_subbuf();  // an empty one
  EXPECT_EQ(drain(r).malformed, 0u);
  EXPECT_EQ(writer_.consumed(), 2 * kSubbuf);
}

TEST_F(RingReaderTest, positions_may_start_anywhere) {
  for (uint64_t start : {uint64_t{1} << 32, uint64_t{1} << 63, uint64_t{0}}) {
    SCOPED_TRACE(start);
    // Ten sub-buffers before the power of two, through it and beyond.
    region_.start_ring_at(1, start - 10 * kSubbuf);
    RingReader r = reader();
    uint64_t drained = 0, malformed = 0, field = 0, expected = 0;
    for (int i = 0; i < 6000; ++i) {
      ASSERT_TRUE(writer_.write(1, kNow - 100, field++));
      if (i % 300 != 0) continue;
      const DrainStats stats = drain(r);
      drained += stats.records;
      malformed += stats.malformed;
      for (const Event& event : collected_.events) ASSERT_EQ(event.words[1], expected++);
    }
    drained += drain(r).records;
    EXPECT_EQ(drained, 6000u);
    EXPECT_EQ(malformed, 0u);
  }
}

TEST_F(RingReaderTest, a_record_may_straddle_two_chunks_of_a_large_subbuffer) {
  constexpr abi::Geometry kLarge = {
      .ring_count = 1, .class_count = 4, .subbuf_count = 2, .subbuf_size = 1 << 20};
  constexpr uint32_t kOddSizes[] = {0, 3064, 0, 0};
  TestRegion region(kLarge);
  uint64_t pos = 0;
  while ((pos & (kLarge.subbuf_size - 1)) + kOddSizes[1] < kLarge.subbuf_size) {
    const uint64_t header = abi::make_header(1, kNow - 5000 + pos / kOddSizes[1]);
    std::memcpy(region.ring_data(0) + pos, &header, sizeof header);
    pos += kOddSizes[1];
  }
  region.ring_control(0)->pos = pos;
  RingReader r(kLarge, region.region(), 0, kOddSizes);
  const DrainStats stats = r.drain(collected_, clock_at_now);
  EXPECT_EQ(stats.records, pos / kOddSizes[1]);
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_EQ(region.ring_control(0)->consumed, pos);
}

TEST_F(RingReaderTest, a_tiny_step_back_in_time_is_evened_out) {
  RingReader r = reader();
  writer_.write(1, kNow - 100);
  writer_.write(1, kNow - 130);
  const DrainStats stats = drain(r);
  EXPECT_EQ(stats.records, 2u);
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_EQ(collected_.events[1].tsc, kNow - 100);
  EXPECT_EQ(collected_.events[1].words[0], abi::make_header(1, kNow - 100));
}

// ---- what only a scribbling target makes
// ----------------------------------------------------------------------

struct BadRecord {
  const char* name;
  uint64_t header;
};

class BadRecordTest : public RingReaderTest, public testing::WithParamInterface<BadRecord> {};

TEST_P(BadRecordTest, is_cut_and_the_next_subbuffer_is_read_again) {
  RingReader r = reader();
  writer_.write(1, kNow - 100);
  writer_.put(writer_.pos(), GetParam().header);
  writer_.pos() += 16;
  writer_.write(1, kNow - 90);
  writer_.switch_subbuf();
  writer_.write(1, kNow - 80, 77);
  const DrainStats stats = drain(r);
  EXPECT_EQ(stats.malformed, 1u);
  EXPECT_EQ(stats.malformed_bytes, kSubbuf - 16);
  ASSERT_THAT(collected_.events, SizeIs(2));
  EXPECT_EQ(collected_.events[1].words[1], 77u);
  EXPECT_EQ(writer_.consumed(), writer_.pos());
}

INSTANTIATE_TEST_SUITE_P(
    RingReader, BadRecordTest,
    testing::Values(BadRecord{"unknown_class", abi::make_header(900, kNow)},
                    BadRecord{"from_the_future", abi::make_header(1, kNow + (1u << 30))},
                    BadRecord{"backwards", abi::make_header(1, kNow - 100 - 2 * kReorderSlack)},
                    BadRecord{"from_before_the_start", abi::make_header(1, kNow - 2'000'000)}),
    [](const auto& bad) { return bad.param.name; });

TEST_F(RingReaderTest, a_record_longer_than_what_was_published_is_cut) {
  RingReader r = reader();
  writer_.put(0, abi::make_header(2, kNow));
  writer_.pos() = 16;
  EXPECT_EQ(drain(r).malformed, 1u);
  EXPECT_THAT(collected_.events, IsEmpty());
  EXPECT_EQ(writer_.consumed(), 16u);
}

TEST_F(RingReaderTest, padding_before_a_position_in_the_same_subbuffer_is_cut) {
  RingReader r = reader();
  writer_.write(1, kNow);
  writer_.put(0, abi::make_header(abi::kPaddingClass, 0));
  EXPECT_EQ(drain(r).malformed, 1u);
  EXPECT_EQ(writer_.consumed(), writer_.pos());
}

TEST_F(RingReaderTest, a_subbuffer_without_padding_is_malformed) {
  RingReader r = reader();
  for (uint64_t at = 0; at < kSubbuf; at += 16) writer_.put(at, abi::make_header(1, kNow));
  writer_.pos() = kSubbuf;
  EXPECT_EQ(drain(r).malformed, 1u);
  EXPECT_EQ(writer_.consumed(), kSubbuf);
}

TEST_F(RingReaderTest, an_impossible_position_is_followed_not_believed) {
  RingReader r = reader();
  for (uint64_t pos :
       {kGeometry.ring_size() + 8, uint64_t{3}, uint64_t{0} - 8, uint64_t{1} << 63, uint64_t{0}}) {
    writer_.pos() = pos;
    const DrainStats stats = drain(r);
    EXPECT_EQ(stats.malformed, 1u) << pos;
    EXPECT_EQ(stats.records, 0u);
    EXPECT_EQ(writer_.consumed(), pos & ~uint64_t{7});
  }
  writer_.write(1, kNow - 50);
  EXPECT_EQ(drain(r).records, 1u);
}

TEST_F(RingReaderTest, the_shared_copy_of_consumed_is_never_read_back) {
  RingReader r = reader();
  writer_.write(1, kNow - 50);
  EXPECT_EQ(drain(r).records, 1u);
  writer_.consumed() = 12345;
  writer_.write(1, kNow - 40);
  EXPECT_EQ(drain(r).records, 1u);
  EXPECT_EQ(writer_.consumed(), 32u);
}

}  // namespace
}  // namespace blip::ring
