// SPDX-License-Identifier: MIT
// The real writer and the real reader against each other: many threads, a tiny ring, a jumpy watchdog. Every
// hit must come out once or be counted. Also meant to be run under TSan.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ring/counters.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::ring {
namespace {

constexpr uint32_t kSizes[] = {0, 24, 24};
constexpr uint64_t kRecordsPerThread = 5'000;
constexpr unsigned kInVain = 1'000'000;  // drains in a row, each followed by a yield to the writers

struct StressCase {
  const char* name;
  uint32_t slots;
  uint64_t watchdog;   // cycles
  uint32_t nap_every;  // hits between yields with a slot in hand; 0: never
  uint32_t die_every;  // hits between slots never committed; 0: never
};

// Thread number and running number of a hit, twice: a torn record would show.
uint64_t identity(uint64_t thread, uint64_t number) { return thread << 32 | number; }

class SharedStress : public testing::TestWithParam<StressCase> {
 protected:
  static constexpr unsigned kThreads = 4;

  // Hits until kRecordsPerThread of them found room.
  void write_hits(unsigned thread) {
    const StressCase& stress = GetParam();
    uint64_t hits = 0;
    for (uint64_t number = 0; number < kRecordsPerThread && !stuck_; ++hits) {
      const Reservation r = reserve(region_.region(), static_cast<uint16_t>(1 + thread % 2));
      if (r.record == nullptr) {
        ::sched_yield();
        continue;
      }
      const uint64_t fields[2] = {identity(thread, number), ~identity(thread, number)};
      std::memcpy(r.record + 8, fields, sizeof fields);
      ++number;
      if (stress.nap_every != 0 && number % stress.nap_every == 0) ::sched_yield();
      if (stress.die_every == 0 || number % stress.die_every != 0 || deaths_left_.fetch_sub(1) <= 0)
        commit(r);
    }
    hits_.fetch_add(hits);
    running_.fetch_sub(1);
  }

  // For whoever finds the ring stuck.
  std::string describe_ring() {
    const abi::SharedRing& ring = *region_.shared_ring();
    std::string text =
        "hint " + std::to_string(ring.tail_hint) + ", consumed " + std::to_string(ring.consumed);
    for (uint32_t i = 0; i < GetParam().slots; ++i) {
      const uint64_t state = __atomic_load_n(region_.slot(i), __ATOMIC_RELAXED);
      text += "\nslot " + std::to_string(i) + ": ticket " + std::to_string(state >> abi::kSlotTicketShift) +
              ", phase " + std::to_string(static_cast<int>(abi::slot_phase(state)));
    }
    return text;
  }

  void check_record(uint64_t tsc, const uint8_t* record) {
    uint64_t fields[2];
    std::memcpy(fields, record + 8, sizeof fields);
    const uint64_t thread = fields[0] >> 32;
    ASSERT_LT(thread, kThreads);
    ASSERT_EQ(fields[1], ~fields[0]);
    ASSERT_GE(tsc, last_tsc_);
    ASSERT_FALSE(seen_[thread][fields[0] & 0xffffffff]) << "emitted twice";
    seen_[thread][fields[0] & 0xffffffff] = true;
    last_tsc_ = tsc;
  }

  abi::Geometry geometry_ = {.ring_count = 1,
                             .class_count = 3,
                             .subbuf_count = 2,
                             .subbuf_size = 4096,
                             .slot_size = 64,
                             .slot_count = GetParam().slots};
  TestRegion region_{geometry_};
  std::atomic<unsigned> running_{kThreads};
  std::atomic<int> deaths_left_{static_cast<int>(GetParam().slots) - 1};
  std::atomic<uint64_t> hits_{0};
  std::atomic<bool> stuck_{false};
  uint64_t last_tsc_ = 0;
  std::vector<std::vector<bool>> seen_ =
      std::vector<std::vector<bool>>(kThreads, std::vector<bool>(kRecordsPerThread));
};

TEST_P(SharedStress, hits_equal_recorded_plus_discarded) {
  region_.gate()->no_syscalls = 1;
  SharedRingReader reader(geometry_, region_.region(), kSizes);
  reader.set_watchdog(GetParam().watchdog);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([this, i] { write_hits(i); });

  auto sink = [this](uint64_t tsc, uint16_t, const uint8_t* record, uint32_t) { check_record(tsc, record); };
  DrainStats stats;
  uint64_t taken = 0;
  unsigned in_vain = 0;
  while (running_.load() != 0) {
    stats += reader.drain(sink);
    ::sched_yield();
    in_vain = stats.records + stats.discarded == taken ? in_vain + 1 : 0;
    taken = stats.records + stats.discarded;
    if (in_vain == kInVain && !stuck_.exchange(true))
      ADD_FAILURE() << "no record for a long time:\n" << describe_ring();
  }
  for (auto& thread : threads) thread.join();
  stats += reader.finish(sink);

  const uint64_t counted = CounterReader(geometry_, region_.region()).totals().discarded;
  EXPECT_EQ(stats.malformed, 0u);
  EXPECT_GT(stats.records, 0u);
  EXPECT_EQ(stats.discarded, reader.discarded()[1] + reader.discarded()[2]);
  EXPECT_EQ(stats.records + stats.discarded + counted, hits_.load());
  RecordProperty("recorded", static_cast<int>(stats.records));
  RecordProperty("late_or_dead", static_cast<int>(stats.discarded));
}

constexpr uint64_t kNever = uint64_t{1} << 60;

INSTANTIATE_TEST_SUITE_P(Ring, SharedStress,
                         testing::Values(StressCase{"two_slots", 2, kNever, 0, 0},
                                         StressCase{"many_slots", 1024, kNever, 50, 0},
                                         StressCase{"slow_writers", 8, kNever, 3, 0},
                                         StressCase{"jumpy_watchdog", 4, 0, 2, 0},
                                         StressCase{"jumpy_watchdog_two_slots", 2, 2000, 2, 0},
                                         StressCase{"dying_writers", 8, 20'000, 7, 1000},
                                         StressCase{"dying_and_jumpy", 4, 0, 5, 500}),
                         [](const auto& stress) { return stress.param.name; });

}  // namespace
}  // namespace blip::ring
