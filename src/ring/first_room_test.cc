// SPDX-License-Identifier: MIT
#include "ring/first_room.h"

#include <gtest/gtest.h>

#include <atomic>

#include "ring/reader.h"
#include "ring/test_region.h"

namespace blip::ring {
namespace {

abi::Geometry geometry_of(uint32_t subbuf_count, uint32_t subbuf_size) {
  return {.ring_count = 1, .class_count = 4, .subbuf_count = subbuf_count, .subbuf_size = subbuf_size};
}

TEST(FirstRoom, is_all_of_small_rings) {
  EXPECT_EQ(first_room(geometry_of(4, 1 << 20), 2), (FirstRoom{0, 4 << 20}));
  EXPECT_EQ(first_room(geometry_of(2, 4096), 64), (FirstRoom{0, 8192}));
}

TEST(FirstRoom, is_some_sub_buffers_of_larger_ones) {
  EXPECT_EQ(first_room(geometry_of(8, 1 << 20), 4), (FirstRoom{0, 2 << 20}));
  EXPECT_EQ(first_room(geometry_of(4, 1 << 20), 8), (FirstRoom{0, 1 << 20}));
}

TEST(FirstRoom, is_the_end_of_a_large_sub_buffer) {
  EXPECT_EQ(first_room(geometry_of(4, 64 << 20), 2), (FirstRoom{60 << 20, 64 << 20}));
  EXPECT_EQ(first_room(geometry_of(4, 1 << 20), 16), (FirstRoom{512 << 10, 1 << 20}));
  EXPECT_EQ(first_room(geometry_of(4, 1 << 20), 64), (FirstRoom{896 << 10, 1 << 20}));
  EXPECT_EQ(first_room(geometry_of(4, 1 << 20), 10000), (FirstRoom{896 << 10, 1 << 20}));
}

// A ring of four small sub-buffers in which the first page of the first one is missing.
class GrowingRing : public testing::Test {
 protected:
  static constexpr uint64_t kSubbuf = 8192;
  static constexpr FirstRoom kRoom{4096, kSubbuf};
  static constexpr uint32_t kRecord = 16;
  static constexpr uint32_t kSizes[] = {0, 16, kRecord, 0};

  GrowingRing() : region_(geometry_of(4, kSubbuf)) { start_with(kRoom, geometry(), 77, control()); }

  const abi::Geometry& geometry() const { return region_.geometry(); }
  abi::RingControl& control() const { return *region_.ring_control(0); }

  // As pads do it; false: no room.
  bool write() {
    abi::RingControl& c = control();
    if (c.pos % kSubbuf + kRecord >= kSubbuf) {
      const uint64_t next = (c.pos / kSubbuf + 1) * kSubbuf;
      if (static_cast<int64_t>(next - c.consumed) >
          static_cast<int64_t>(geometry().ring_size() - geometry().subbuf_size))
        return false;
      store(c.pos, abi::make_header(abi::kPaddingClass, 0));
      c.pos = next;
    }
    store(c.pos, abi::make_header(2, ++time_));
    store(c.pos + 8, ++written_);
    c.pos += kRecord;
    return true;
  }
  void write_all() {
    while (write()) {
    }
  }
  void store(uint64_t pos, uint64_t word) {
    std::memcpy(region_.ring_data(0) + pos % geometry().ring_size(), &word, sizeof word);
  }

  TestRegion region_;
  uint64_t written_ = 0;
  uint64_t time_ = 0;
};

TEST_F(GrowingRing, is_written_where_it_has_memory_only) {
  write_all();
  EXPECT_LT(control().pos, kSubbuf);
  for (uint64_t end = 2 * kSubbuf; end <= geometry().ring_size(); end += kSubbuf) {
    announce_room(geometry(), end, control());
    write_all();
    EXPECT_GE(control().pos, end - kSubbuf);
    EXPECT_LT(control().pos, end);
  }
}

TEST_F(GrowingRing, is_drained_from_where_writing_starts_and_wraps_when_complete) {
  std::atomic<bool> complete{false};
  RingReader reader(geometry(), region_.region(), 0, kSizes, 0, &complete);
  uint64_t read = 0;
  const auto drain = [&] {
    const auto stats = reader.drain(
        [&](uint64_t, uint16_t, const uint8_t* record, uint32_t) {
          uint64_t number;
          std::memcpy(&number, record + 8, sizeof number);
          EXPECT_EQ(number, ++read);
        },
        [] { return uint64_t{1} << 40; });
    EXPECT_EQ(stats.malformed, 0u);
  };
  write_all();
  drain();
  EXPECT_EQ(read, written_);
  EXPECT_FALSE(write()) << "what is drained has no memory to go on in";
  announce_room(geometry(), geometry().ring_size(), control());
  write_all();
  drain();
  EXPECT_FALSE(write()) << "its first page is still missing";
  complete = true;
  for (int lap = 0; lap < 3; ++lap) {
    drain();
    write_all();
    drain();
    EXPECT_EQ(read, written_);
  }
  EXPECT_GT(control().pos, 2 * geometry().ring_size());
}

TEST_F(GrowingRing, of_a_dead_blip_is_read_from_its_start) {
  write_all();
  EXPECT_EQ(control().releases[control().release_count % 2].pos, kRoom.start);
  EXPECT_EQ(control().releases[control().release_count % 2].pid, 77);
}

}  // namespace
}  // namespace blip::ring
