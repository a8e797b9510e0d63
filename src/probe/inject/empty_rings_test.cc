// SPDX-License-Identifier: MIT
#include "probe/inject/empty_rings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.h"
#include "base/mapping.h"
#include "ring/format.h"

namespace blip::probe {
namespace {

constexpr abi::Geometry kGeometry = {
    .ring_count = 2, .class_count = 4, .subbuf_count = 4, .subbuf_size = 1 << 20};
constexpr uint64_t kRing = 4 << 20;

// Two rings full of ones.
class EmptyRings : public testing::Test {
 protected:
  void SetUp() override {
    fd_.reset(::memfd_create("empty-rings-test", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(kGeometry.region_size())), 0);
    auto mapping = Mapping::create(kGeometry.region_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    ASSERT_TRUE(mapping);
    region_ = *std::move(mapping);
    ring::format_region(kGeometry, region_.data(), reinterpret_cast<uint64_t>(region_.data()));
    std::memset(ring(0), 1, 2 * kRing);
    before_ = allocated();
  }

  void set(unsigned ring, uint64_t consumed, uint64_t pos) {
    auto* control = reinterpret_cast<abi::RingControl*>(region_.data() + abi::kRingControlsOffset) + ring;
    control->consumed = consumed;
    control->pos = pos;
  }
  const uint8_t* ring(unsigned number) const { return const_cast<EmptyRings*>(this)->ring(number); }
  uint8_t* ring(unsigned number) { return region_.data() + kGeometry.ring_data_offset() + number * kRing; }
  uint64_t allocated() const {
    struct stat st {};
    EXPECT_EQ(::fstat(fd_.get(), &st), 0);
    return static_cast<uint64_t>(st.st_blocks) * 512;
  }
  // Gives back, and says how much.
  uint64_t emptied(const std::optional<ring::FirstRoom>& growing = std::nullopt) {
    empty_rings(kGeometry, {.fd = fd_.get(), .here = region_.data(), .there = {}}, growing);
    return before_ - allocated();
  }

  Fd fd_;
  Mapping region_;
  uint64_t before_ = 0;
};

TEST_F(EmptyRings, all_of_what_is_drained_goes) {
  set(0, 0, 0);
  set(1, kRing + 4096, kRing + 4096);
  EXPECT_EQ(emptied(), 2 * kRing);
  EXPECT_EQ(ring(1)[kRing - 1], 0);
}

TEST_F(EmptyRings, what_is_not_drained_stays) {
  set(0, 5000, 70'000);
  set(1, 3 * kRing - 100, 3 * kRing + 200);  // over the ring's end
  EXPECT_EQ(emptied(), 2 * kRing - (18 - 1) * 4096 - 2 * 4096);
  for (uint64_t at = 5000; at < 70'000; ++at) ASSERT_EQ(ring(0)[at], 1) << at;
  EXPECT_EQ(ring(0)[4095], 0);
  EXPECT_EQ(ring(0)[18 * 4096], 0);
  for (uint64_t at = 0; at < 200; ++at) ASSERT_EQ(ring(1)[at], 1) << at;
  for (uint64_t at = kRing - 100; at < kRing; ++at) ASSERT_EQ(ring(1)[at], 1) << at;
}

TEST_F(EmptyRings, full_rings_stay) {
  set(0, 0, kRing);
  set(1, 77, kRing + 77);
  EXPECT_EQ(emptied(), 0u);
}

// The second one has memory for its beginning already, and the first one some that is not announced.
TEST_F(EmptyRings, rings_that_were_still_growing) {
  const ring::FirstRoom room = {.start = 1 << 20, .end = 2 << 20};
  set(0, uint64_t{0} - (2 << 20), 3 << 19);
  set(1, 0, kRing);
  EXPECT_EQ(emptied(room), 2 * kRing - (1u << 19) - (3u << 20));
  EXPECT_EQ(ring(0)[(1 << 20) - 1], 0);
  for (uint64_t at = 1 << 20; at < 3 << 19; ++at) ASSERT_EQ(ring(0)[at], 1) << at;
  EXPECT_EQ(ring(0)[3 << 19], 0);
  EXPECT_EQ(ring(0)[kRing - 1], 0);
  EXPECT_EQ(ring(1)[(1 << 20) - 1], 0);
  EXPECT_EQ(ring(1)[1 << 20], 1);
  EXPECT_EQ(ring(1)[kRing - 1], 1);
}

TEST_F(EmptyRings, what_cannot_be_true_of_growing_ones) {
  set(0, 0, 4096);
  set(1, 0, kRing + 1);
  EXPECT_EQ(emptied(ring::FirstRoom{.start = 1 << 20, .end = 2 << 20}), 0u);
}

TEST_F(EmptyRings, what_cannot_be_true_is_left_alone) {
  set(0, 10, 5);
  set(1, 0, kRing + 1);
  EXPECT_EQ(emptied(), 0u);
}

TEST_F(EmptyRings, only_large_ones_are_worth_it) {
  EXPECT_TRUE(are_rings_large(kGeometry));
  EXPECT_FALSE(are_rings_large({.ring_count = 2, .subbuf_count = 2, .subbuf_size = 4096}));
}

}  // namespace
}  // namespace blip::probe
