// SPDX-License-Identifier: MIT
// A target that scribbles over everything it shares with blip, also while blip reads. Run under ASan and
// UBSan for the full effect. Whatever it does: records that come out are well-formed, and a drain comes to an
// end.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "ring/counters.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::ring {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = 5,
                                     .subbuf_count = 4,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 16};
constexpr uint32_t kSizes[] = {0, 16, 56, 3072, dynamic_size(16, 40)};

// Random words that are often nearly right.
class Scribbler {
 public:
  Scribbler(const TestRegion& region, uint32_t seed) : region_(region), random_(seed) {}

  void scribble() {
    switch (random_() % 8) {
      case 0:
        return store(&region_.ring_control(0)->pos, random_() % 4 == 0 ? wild() : near_position());
      case 1:
        return store(&region_.ring_control(0)->consumed, wild());
      case 2:
        return store(&region_.shared_ring()->tail_hint, wild());
      case 3:
        return store(&region_.shared_ring()->consumed, wild());
      case 4:
        return store(region_.slot(random_()), slot_state());
      case 5:
        return store_record(region_.slot(random_()) + 1);
      case 6:
        return store(reinterpret_cast<uint64_t*>(region_.region()) + random_() % 64, wild());
      default:
        return store_record(reinterpret_cast<uint64_t*>(region_.ring_data(0)) + random_() % 2047);
    }
  }

 private:
  static void store(uint64_t* at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }

  uint64_t wild() { return random_() % 2 ? random_() : random_() % 100000; }
  uint64_t near_position() {
    return __atomic_load_n(&region_.ring_control(0)->consumed, __ATOMIC_RELAXED) + random_() % 2048 * 8;
  }
  void store_record(uint64_t* at) {
    store(at, header());
    if (random_() % 2 == 0) store(at + 1, hit_word());
  }
  uint64_t hit_word() { return random_() << abi::kHitFaultShift | (random_() % 8 * 8 + random_() % 16 / 15); }
  uint64_t header() {
    const uint64_t tsc = random_() % 4 == 0 ? random_() : TscClock{}() - random_() % 10000;
    return abi::make_header(static_cast<uint16_t>(random_() % 6), tsc);
  }
  uint64_t slot_state() {
    const uint64_t ticket =
        __atomic_load_n(&region_.shared_ring()->consumed, __ATOMIC_RELAXED) + random_() % 48 - 16;
    return abi::slot_state(ticket, static_cast<uint16_t>(random_() % 6),
                           static_cast<abi::SlotPhase>(random_() % 4));
  }

  const TestRegion& region_;
  std::mt19937_64 random_;
};

class Hostile : public testing::Test {
 protected:
  Hostile() { shared_.set_watchdog(1000); }

  void drain_everything() {
    const auto start = std::chrono::steady_clock::now();
    drain_one(ring_);
    drain_one(shared_);
    slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - start);
    sum_ += CounterReader(kGeometry, region_.region()).totals().discarded;
  }

  template <class Reader>
  void drain_one(Reader& reader) {
    uint64_t bytes = 0;
    const DrainStats stats =
        reader.drain([&](uint64_t tsc, uint16_t class_id, const uint8_t* record, uint32_t size) {
          uint64_t header;
          std::memcpy(&header, record, sizeof header);
          wrong_ += class_id == 0 || class_id > 4 || size < least_size(kSizes[class_id]) ||
                    size > most_size(kSizes[class_id]) || size % 8 != 0 ||
                    abi::header_class(header) != class_id;
          dynamic_ += class_id == 4;
          wrong_ += abi::header_time(header) != (tsc & abi::kTimeMask) || tsc > TscClock{}() + kFutureSlack;
          for (uint32_t i = 0; i < size; ++i) sum_ += record[i];
          bytes += size;
        });
    wrong_ += stats.bytes != bytes || bytes > kGeometry.ring_size();
    seen_ += stats;
  }

  TestRegion region_{kGeometry};
  RingReader ring_{kGeometry, region_.region(), 0, kSizes, TscClock{}()};
  SharedRingReader shared_{kGeometry, region_.region(), kSizes, TscClock{}()};
  DrainStats seen_;
  uint64_t wrong_ = 0;
  uint64_t dynamic_ = 0;
  uint64_t sum_ = 0;
  std::chrono::steady_clock::duration slowest_{};
};

TEST_F(Hostile, scribbles_between_drains) {
  Scribbler scribbler(region_, 1);
  for (int i = 0; i < 20'000; ++i) {
    for (int k = 0; k < 8; ++k) scribbler.scribble();
    drain_everything();
  }
  EXPECT_EQ(wrong_, 0u);
  EXPECT_GT(seen_.malformed, 1000u);
  EXPECT_GT(seen_.records, 100u);
  EXPECT_GT(dynamic_, 10u);
  EXPECT_LT(slowest_, std::chrono::seconds(2));
}

TEST_F(Hostile, scribbles_while_blip_reads) {
  std::atomic<bool> stop{false};
  std::thread target([&] {
    Scribbler scribbler(region_, 2);
    while (!stop) scribbler.scribble();
  });
  // On a busy machine it may take a while until the target gets a CPU.
  for (int i = 0; i < 20'000 || (seen_.malformed == 0 && i < 5'000'000); ++i) {
    drain_everything();
    if (i % 16 == 0) ::sched_yield();
  }
  stop = true;
  target.join();
  drain_everything();
  EXPECT_EQ(wrong_, 0u);
  EXPECT_GT(seen_.malformed, 0u);
  EXPECT_LT(slowest_, std::chrono::seconds(5));
}

TEST_F(Hostile, random_bytes_everywhere) {
  std::mt19937_64 random(3);
  auto* words = reinterpret_cast<uint64_t*>(region_.region());
  for (int round = 0; round < 300; ++round) {
    for (uint64_t i = 0; i < kGeometry.region_size() / 8; ++i) words[i] = random();
    drain_everything();
    shared_.finish([&](auto...) {});
  }
  EXPECT_EQ(wrong_, 0u);
}

// 4 * (ring_count + 1) is 0 in 32 bits: the counters would seem to fit in no memory at all.
TEST_F(Hostile, rings_too_many_to_be_counted_in_32_bits_are_not_valid) {
  abi::Geometry g = kGeometry;
  for (uint32_t count : {0x3fffffffu, 0x7fffffffu, 0xffffffffu}) {
    g.ring_count = count;
    EXPECT_FALSE(is_valid(g)) << count;
  }
}

// Tickets laps ahead of each other: the end looks at slots, not at tickets.
TEST_F(Hostile, the_end_of_a_large_ring_full_of_made_up_tickets) {
  abi::Geometry geometry = kGeometry;
  geometry.slot_count = 1 << 14;
  TestRegion region{geometry};
  SharedRingReader reader{geometry, region.region(), kSizes, TscClock{}()};
  std::mt19937_64 random(4);
  for (uint64_t i = 0; i < geometry.slot_count; ++i)
    *region.slot(i) = abi::slot_state(i + random() % 100'000 * geometry.slot_count, 1,
                                      static_cast<abi::SlotPhase>(random() % 4));
  const DrainStats stats = reader.finish([](auto...) {});
  EXPECT_GT(stats.malformed, geometry.slot_count / 4);
}

TEST_F(Hostile, records_whose_time_never_comes_do_not_stop_the_ring) {
  // Within the slack for clocks that differ, so they are held; the reader must not fill up with them.
  for (int i = 0; i < 2000; ++i) {
    const Reservation r = reserve(region_.region(), 1);
    if (r.record != nullptr) {
      const uint64_t soon = abi::make_header(1, TscClock{}() + kFutureSlack - 1000);
      std::memcpy(r.record, &soon, sizeof soon);
      commit(r);
    }
    if (i % 8 == 0) drain_one(shared_);
  }
  EXPECT_GT(seen_.records, 1000u);
}

}  // namespace
}  // namespace blip::ring
