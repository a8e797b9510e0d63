// SPDX-License-Identifier: MIT
// SharedRingReader against the real writer, one step at a time.
#include "ring/shared_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ring/counters.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::ring {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = 3,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 4};
constexpr uint32_t kSizes[] = {0, 16, 24};
constexpr uint64_t kWatchdog = 1'000'000'000;

class SharedRingTest : public testing::Test {
 protected:
  SharedRingTest() { restart(0); }

  void restart(uint64_t ticket) {
    region_.start_shared_ring_at(ticket);
    reader_ = std::make_unique<SharedRingReader>(kGeometry, region_.region(), kSizes);
    reader_->set_watchdog(kWatchdog);
  }
  Reservation begin(uint64_t field, uint16_t class_id = 1) {
    Reservation r = reserve(region_.region(), class_id);
    if (r.record != nullptr) std::memcpy(r.record + 8, &field, sizeof field);
    return r;
  }
  bool hit(uint64_t field) {
    const Reservation r = begin(field);
    if (r.record == nullptr) return false;
    commit(r);
    return true;
  }
  // Time passes faster here: each drain comes `skip` cycles after the one before.
  DrainStats drain(uint64_t skip = 0) {
    skipped_ += skip;
    fields_.clear();
    return reader_->drain([this](auto... args) { sink(args...); },
                          [this] { return TscClock{}() + skipped_; });
  }
  DrainStats finish() {
    fields_.clear();
    return reader_->finish([this](auto... args) { sink(args...); });
  }
  void sink(uint64_t tsc, uint16_t, const uint8_t* record, uint32_t) {
    EXPECT_GE(tsc, last_);
    last_ = tsc;
    uint64_t field;
    std::memcpy(&field, record + 8, sizeof field);
    fields_.push_back(field);
  }
  uint64_t counted(abi::CounterKind kind) {
    return CounterReader(kGeometry, region_.region()).read(kind, kGeometry.ring_count, 1);
  }

  TestRegion region_{kGeometry};
  std::unique_ptr<SharedRingReader> reader_;
  std::vector<uint64_t> fields_;
  uint64_t last_ = 0;
  uint64_t skipped_ = 0;
};

TEST_F(SharedRingTest, committed_records_come_out_once_in_order) {
  hit(1);
  hit(2);
  EXPECT_EQ(drain().records, 2u);
  EXPECT_THAT(fields_, ElementsAre(1, 2));
  EXPECT_EQ(drain().records, 0u);
}

TEST_F(SharedRingTest, a_full_ring_discards_and_counts) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(hit(1));
  EXPECT_FALSE(hit(5));
  EXPECT_FALSE(hit(6));
  EXPECT_EQ(counted(abi::kDiscarded), 2u);
  EXPECT_EQ(drain().records, 4u);
  EXPECT_TRUE(hit(7));
  EXPECT_EQ(drain().records, 1u);
}

TEST_F(SharedRingTest, tickets_wrap) {
  for (uint64_t start : {uint64_t{1} << 32, uint64_t{1} << 46, uint64_t{1} << 63, uint64_t{0}}) {
    restart(start - 10);
    uint64_t total = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(hit(i)) << start << " " << i;
      if (i % 3 == 0) total += drain().records;
    }
    EXPECT_EQ(total + drain().records, 100u);
    EXPECT_EQ(region_.shared_ring()->consumed, start + 90);
  }
}

TEST_F(SharedRingTest, a_stale_hint_costs_steps_not_records) {
  for (uint64_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(hit(i));
    if (i % 2 == 1) drain();
    region_.shared_ring()->tail_hint = i / 5;
  }
  drain();
  EXPECT_EQ(counted(abi::kDiscarded), 0u);
}

TEST_F(SharedRingTest, a_busy_slot_holds_back_the_younger_ones) {
  const Reservation slow = begin(1);
  hit(2);
  EXPECT_EQ(drain().records, 0u);
  commit(slow);
  EXPECT_EQ(drain().records, 2u);
  EXPECT_THAT(fields_, ElementsAre(1, 2));
}

TEST_F(SharedRingTest, a_record_is_held_while_an_older_one_may_still_be_committed) {
  const Reservation first = begin(1);
  const Reservation second = begin(2);
  // The first writer was overtaken between its claim and its clock.
  const uint64_t younger = abi::make_header(1, TscClock{}());
  std::memcpy(first.record, &younger, sizeof younger);
  commit(first);
  EXPECT_EQ(drain().records, 0u);
  commit(second);
  EXPECT_EQ(drain().records, 2u);
  EXPECT_THAT(fields_, ElementsAre(2, 1));
}

TEST_F(SharedRingTest, under_steady_load_records_come_out_one_drain_later) {
  Reservation open = begin(0);
  for (uint64_t i = 1; i < 50; ++i) {
    const Reservation next = begin(i);
    ASSERT_NE(next.record, nullptr);
    commit(open);  // there is always a busy slot at the head
    open = next;
    drain();
    if (i > 2) {
      EXPECT_THAT(fields_, SizeIs(1));
    }
  }
}

TEST_F(SharedRingTest, a_slot_busy_beyond_the_watchdog_is_left_behind) {
  begin(1);
  hit(2);
  EXPECT_EQ(drain().records, 0u);
  EXPECT_EQ(drain(2 * kWatchdog).records, 1u);
  EXPECT_THAT(fields_, ElementsAre(2));
  EXPECT_EQ(reader_->leaked_slots(), 1u);
  // The others go round without it.
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(hit(i)) << i;
    ASSERT_EQ(drain().records, 1u);
  }
  EXPECT_EQ(finish().discarded, 1u);
  EXPECT_EQ(reader_->discarded()[1], 1u);
}

TEST_F(SharedRingTest, several_dead_writers_cost_one_watchdog) {
  begin(1);
  begin(2);
  begin(3);
  hit(4);
  drain();
  EXPECT_EQ(drain(2 * kWatchdog).records, 1u);
  EXPECT_EQ(reader_->leaked_slots(), 3u);
}

TEST_F(SharedRingTest, a_late_commit_is_recorded_if_still_in_order) {
  const Reservation late = begin(1);
  drain();
  drain(2 * kWatchdog);
  EXPECT_EQ(reader_->leaked_slots(), 1u);
  commit(late);
  EXPECT_EQ(drain().records, 1u);
  EXPECT_EQ(reader_->leaked_slots(), 0u);
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(hit(i)) << i;
    ASSERT_EQ(drain().records, 1u) << i;
  }
}

// A writer that walked over a ring of leaked slots may claim any ticket that is free when it comes there.
TEST_F(SharedRingTest, a_free_ticket_that_a_writer_walked_past_is_given_up) {
  std::vector<Reservation> late;
  for (uint64_t i = 0; i < kGeometry.slot_count; ++i) late.push_back(begin(i));
  drain();
  drain(2 * kWatchdog);
  ASSERT_EQ(reader_->leaked_slots(), kGeometry.slot_count);
  for (const Reservation& r : late) commit(r);
  EXPECT_EQ(drain().records, kGeometry.slot_count);
  const uint64_t first_free = *region_.slot(0) >> abi::kSlotTicketShift;
  region_.shared_ring()->tail_hint = first_free + 2;  // where it has come to
  ASSERT_TRUE(hit(77));
  uint64_t records = 0;
  for (int i = 0; i < 8; ++i) records += drain().records;
  EXPECT_EQ(records, 1u);
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(hit(i)) << i;
    ASSERT_EQ(drain().records, 1u) << i;
  }
}

TEST_F(SharedRingTest, a_late_commit_out_of_order_counts_as_discarded) {
  const Reservation late = begin(1);
  hit(2);
  drain();
  EXPECT_EQ(drain(2 * kWatchdog).records, 1u);
  commit(late);
  const DrainStats stats = drain();
  EXPECT_EQ(stats.records, 0u);
  EXPECT_EQ(stats.discarded, 1u);
  EXPECT_EQ(reader_->discarded()[1], 1u);
}

TEST_F(SharedRingTest, a_ring_of_leaked_slots_discards_until_one_is_freed) {
  Reservation slots[4];
  for (auto& slot : slots) slot = begin(0);
  drain();
  drain(2 * kWatchdog);
  EXPECT_EQ(reader_->leaked_slots(), 4u);
  EXPECT_FALSE(hit(1));
  for (int i = 0; i < 10; ++i) drain();
  EXPECT_EQ(region_.shared_ring()->consumed, 4u);
  commit(slots[2]);
  drain();
  // Its new ticket is some laps on; drains walk there.
  for (int i = 0; i < 3; ++i) drain();
  EXPECT_TRUE(hit(7));
  drain();
  EXPECT_THAT(fields_, ElementsAre(7));
  EXPECT_EQ(finish().discarded, 3u);
}

TEST_F(SharedRingTest, finishing_takes_everything) {
  hit(1);
  begin(2, 2);
  hit(3);
  const DrainStats stats = finish();
  EXPECT_EQ(stats.records, 2u);
  EXPECT_EQ(stats.discarded, 1u);
  EXPECT_EQ(reader_->discarded()[2], 1u);
  EXPECT_THAT(fields_, ElementsAre(1, 3));
}

// ---- what only a scribbling target makes
// ----------------------------------------------------------------------

TEST_F(SharedRingTest, bad_states_are_counted_and_the_ring_goes_on) {
  *region_.slot(0) = abi::slot_state(0, 1, abi::kSlotFree);                  // free with a class
  *region_.slot(1) = abi::slot_state(1, 1, static_cast<abi::SlotPhase>(3));  // no such phase
  *region_.slot(2) = abi::slot_state(2 - 4, 1, abi::kSlotBusy);              // behind, but nobody leaked it
  *region_.slot(3) = abi::slot_state(3, 999, abi::kSlotFull);                // unknown class
  EXPECT_EQ(drain().malformed, 4u);
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(hit(i));
    ASSERT_EQ(drain().records, 1u);
  }
}

TEST_F(SharedRingTest, a_header_that_contradicts_the_state_is_malformed) {
  const Reservation r = begin(1);
  const uint64_t other = abi::make_header(2, TscClock{}());
  std::memcpy(r.record, &other, sizeof other);
  commit(r);
  EXPECT_EQ(drain().malformed, 1u);
}

TEST_F(SharedRingTest, times_from_the_future_are_malformed) {
  const Reservation r = begin(1);
  const uint64_t future = abi::make_header(1, TscClock{}() + (uint64_t{1} << 40));
  std::memcpy(r.record, &future, sizeof future);
  hit(2);
  drain();
  commit(r);
  drain();
  drain();
  hit(3);
  EXPECT_EQ(drain().records, 1u);
}

TEST_F(SharedRingTest, a_leaked_slot_that_changed_hands_is_malformed) {
  begin(1);
  drain();
  drain(2 * kWatchdog);
  *region_.slot(0) = 0xdeadbeefdeadbeef;
  EXPECT_EQ(drain().malformed, 1u);
  EXPECT_EQ(reader_->leaked_slots(), 0u);
}

TEST_F(SharedRingTest, a_closed_gate_skips) {
  region_.gate()->gate = abi::kGateClosed;
  EXPECT_FALSE(hit(1));
  EXPECT_EQ(counted(abi::kSkipped), 1u);
  EXPECT_EQ(drain().records, 0u);
}

// A fork's child opens its gate at its first hit; then it makes as few system calls as its parent.
TEST_F(SharedRingTest, a_child_that_nobody_announced) {
  region_.header()->unannounced_gate = abi::kGateOpen | abi::kGateChild;
  for (uint32_t filtered : {kFiltered, kCallsUnwanted, uint32_t{0}}) {
    *region_.gate() = {};
    region_.header()->filtered = filtered;
    EXPECT_EQ(hit(1), filtered != kFiltered);
    EXPECT_EQ(region_.gate()->pid, filtered == kFiltered ? 0 : ::getpid());
    EXPECT_EQ(region_.gate()->no_syscalls, filtered == kCallsUnwanted);
    EXPECT_EQ(region_.gate()->calls, 0u);
  }
  EXPECT_EQ(counted(abi::kSkipped), 1u);
}

}  // namespace
}  // namespace blip::ring
