// SPDX-License-Identifier: MIT
// Rings in memory become records: no process, no file.
#include "session/drain/ring_drain.h"

#include <gmock/gmock.h>

#include <tuple>

#include "ctf/clock.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kPid = 42, kChild = 43;
constexpr uint16_t kClass = abi::kFirstClass;
constexpr uint32_t kRecordSize = 16, kShared = 2;
constexpr abi::Geometry kGeometry = {.ring_count = 2,
                                     .class_count = abi::kFirstClass + 1,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 16};

using Taken = std::tuple<uint32_t, int32_t, uint64_t>;  // row, pid, value
using Told = std::tuple<uint32_t, uint64_t, size_t>;    // row, hits, behind so many records
using Stored = std::pair<uint32_t, size_t>;             // row, behind so many records

struct Collected {
  bool keeps = false;
  std::vector<Taken> taken{};
  std::vector<Told> told{};
  std::vector<Stored> stored{};

  void record(uint32_t row, uint64_t, uint16_t class_id, int32_t pid, const uint8_t* record, uint32_t size) {
    EXPECT_EQ(class_id, kClass);
    EXPECT_EQ(size, kRecordSize);
    uint64_t value;
    std::memcpy(&value, record + abi::kHeaderSize, sizeof value);
    taken.emplace_back(row, pid, value);
  }
  void set_discarded(uint32_t row, uint64_t hits, uint64_t time_ns) {
    EXPECT_NE(time_ns, 0u);
    told.emplace_back(row, hits, taken.size());
  }
  bool stores() const { return keeps; }
  StoredPackets store(uint32_t row) {
    stored.emplace_back(row, taken.size());
    return {.own = 7, .several = 8};
  }
};

class RingDrainTest : public ::testing::Test {
 protected:
  RingDrainTest() { drain_.set_record_size(kClass, kRecordSize); }

  RingInput input(std::vector<int32_t> ring_pids = {}) {
    return {.geometry = kGeometry,
            .region = region_.region(),
            .vpid = kPid,
            .start_tsc = ctf::HostClocks::tsc(),
            .ring_pids = std::move(ring_pids)};
  }
  void append(uint32_t ring, const void* record, size_t size) {
    uint64_t& pos = region_.ring_control(ring)->pos;
    std::memcpy(region_.ring_data(ring) + pos % kGeometry.ring_size(), record, size);
    pos += size;
  }
  void write(uint32_t ring, uint64_t value) {
    const uint64_t record[] = {abi::make_header(kClass, ctf::HostClocks::tsc()), value};
    append(ring, record, sizeof record);
  }
  void switch_to(uint32_t ring, int32_t pid) {
    uint64_t record[sizeof(abi::ProcessRecord) / 8] = {
        abi::make_header(abi::kProcessClass, ctf::HostClocks::tsc())};
    std::memcpy(reinterpret_cast<uint8_t*>(record) + offsetof(abi::ProcessRecord, pid), &pid, sizeof pid);
    append(ring, record, sizeof record);
  }
  ring::Reservation reserve(uint64_t value) {
    const ring::Reservation slot = ring::reserve(region_.region(), kClass);
    if (slot.record) std::memcpy(slot.record + abi::kHeaderSize, &value, sizeof value);
    return slot;
  }
  void write_shared(uint64_t value, int32_t pid = 0) {
    const ring::Reservation slot = reserve(value);
    ASSERT_NE(slot.record, nullptr);
    auto* state = reinterpret_cast<uint64_t*>(slot.record) - 1;
    *ring::slot_pid(region_.region(), state) = static_cast<uint64_t>(pid);
    ring::commit(slot);
  }
  void discard(uint32_t row, uint64_t hits) {
    std::memcpy(region_.region() + kGeometry.counter_offset(abi::kDiscarded, row, kClass), &hits,
                sizeof hits);
  }
  // As long after the last one as makes everything be stored.
  uint64_t round() { return drain_.drain(now_ns_ += 1'000'000'000, to_); }

  ring::TestRegion region_{kGeometry};
  RingDrain drain_{input(), false};
  Collected to_;
  uint64_t now_ns_ = 0;
};

TEST_F(RingDrainTest, records_come_with_their_row_and_their_process) {
  write(0, 1);
  write(1, 2);
  switch_to(1, kChild);
  write(1, 3);
  write_shared(4, kPid);
  EXPECT_EQ(round(), 3 * kRecordSize + sizeof(abi::ProcessRecord) + kRecordSize);
  write(1, 5);
  round();
  EXPECT_THAT(to_.taken, ElementsAre(Taken(0, kPid, 1), Taken(1, kPid, 2), Taken(1, kChild, 3),
                                     Taken(kShared, kPid, 4), Taken(1, kChild, 5)));
}

TEST_F(RingDrainTest, another_process_is_told_once) {
  switch_to(0, kChild);
  switch_to(0, kPid);
  switch_to(1, kChild);
  write_shared(1, kChild);
  write_shared(2, kChild + 1);
  round();
  EXPECT_THAT(drain_.take_heard_of(), ElementsAre(kChild, kChild + 1));
  switch_to(0, kChild);
  round();
  EXPECT_THAT(drain_.take_heard_of(), IsEmpty());
}

TEST_F(RingDrainTest, a_ring_may_begin_with_the_records_of_a_child) {
  RingDrain drain(input({kChild}), false);
  drain.set_record_size(kClass, kRecordSize);
  write(0, 1);
  write(1, 2);
  drain.drain(1, to_);
  EXPECT_THAT(to_.taken, ElementsAre(Taken(0, kChild, 1), Taken(1, kPid, 2)));
}

TEST_F(RingDrainTest, drained_room_is_given_back_at_once_if_nothing_is_stored) {
  write(0, 1);
  round();
  EXPECT_EQ(region_.ring_control(0)->consumed, kRecordSize);
  EXPECT_THAT(to_.stored, IsEmpty());
}

TEST_F(RingDrainTest, drained_room_is_kept_until_it_is_stored) {
  to_.keeps = true;
  round();
  write(0, 1);
  switch_to(0, kChild);
  write_shared(2, kPid);
  now_ns_ -= 1'000'000'000;
  round();
  EXPECT_EQ(to_.taken.size(), 2u);
  EXPECT_EQ(region_.ring_control(0)->consumed, 0u) << "too early";
  round();
  EXPECT_THAT(to_.stored, ElementsAre(Stored(kShared, 2), Stored(0, 2)))
      << "a record is a sixteenth of the shared ring already";
  const abi::RingControl& control = *region_.ring_control(0);
  EXPECT_EQ(control.consumed, kRecordSize + sizeof(abi::ProcessRecord));
  const abi::ReleaseNote note = control.releases[control.release_count % 2];
  EXPECT_EQ(note.pos, control.consumed);
  EXPECT_EQ(note.own_packets, 7u);
  EXPECT_EQ(note.several_packets, 8u);
  EXPECT_EQ(note.pid, kChild);
  const abi::SharedRing& shared = *region_.shared_ring();
  EXPECT_EQ(shared.releases[shared.release_count % 2].own_packets, 7u);
}

TEST_F(RingDrainTest, a_full_part_of_the_ring_is_stored_early) {
  to_.keeps = true;
  const size_t part = kGeometry.ring_size() / 16 / kRecordSize;
  for (size_t i = 0; i < part; ++i) write(0, i);
  drain_.drain(1, to_);
  EXPECT_THAT(to_.stored, ElementsAre(Stored(0, part)));
  EXPECT_EQ(region_.ring_control(0)->consumed, kGeometry.ring_size() / 16);
}

TEST_F(RingDrainTest, discarded_hits_are_told_between_the_records_where_they_happened) {
  to_.keeps = true;
  write(0, 1);
  region_.ring_control(0)->pos = kGeometry.subbuf_size;  // behind it is padding
  discard(0, 5);
  round();
  write(0, 2);
  round();
  EXPECT_THAT(to_.told, ElementsAre(Told(0, 5, 1)));
  EXPECT_EQ(drain_.ring_needed(), kGeometry.ring_size() + 5 * kRecordSize);
}

TEST_F(RingDrainTest, discarded_hits_of_the_shared_ring_are_told_before_what_is_younger) {
  to_.keeps = true;
  std::vector<ring::Reservation> slots;
  for (uint64_t i = 0; i < kGeometry.slot_count; ++i) slots.push_back(reserve(i));
  discard(kShared, 3);
  round();  // the ring is full, and nothing in it is finished
  EXPECT_THAT(to_.told, IsEmpty()) << "older records may still come";
  for (const ring::Reservation& slot : slots) ring::commit(slot);
  round();
  write_shared(100, kPid);
  round();
  EXPECT_THAT(to_.told, ElementsAre(Told(kShared, 3, kGeometry.slot_count)));
}

TEST_F(RingDrainTest, discarded_hits_are_not_looked_for_if_nothing_is_stored) {
  region_.ring_control(0)->pos = kGeometry.subbuf_size;
  discard(0, 5);
  for (int i = 0; i < 40; ++i) round();
  drain_.finish(to_);
  EXPECT_THAT(to_.told, IsEmpty());
  EXPECT_EQ(drain_.ring_needed(), 0u);
}

TEST_F(RingDrainTest, counts_are_looked_at_now_and_then_also_in_an_empty_ring) {
  to_.keeps = true;
  discard(0, 5);
  discard(kShared, 6);
  for (int i = 0; i < 16; ++i) round();
  EXPECT_THAT(to_.told, ElementsAre(Told(0, 5, 0), Told(kShared, 6, 0)));
}

TEST_F(RingDrainTest, a_mark_that_the_target_has_jumped_over_is_told_all_the_same) {
  to_.keeps = true;
  write(0, 1);
  region_.ring_control(0)->pos = kGeometry.subbuf_size + kRecordSize;
  discard(0, 5);
  for (int i = 0; i < 3; ++i) {
    round();
    region_.ring_control(0)->pos += 64 * kGeometry.ring_size() + 8;  // nonsense
  }
  round();
  drain_.finish(to_);
  ASSERT_EQ(to_.told.size(), 1u);
  EXPECT_EQ(std::get<1>(to_.told[0]), 5u);
  EXPECT_GT(drain_.stats().malformed, 0u);
}

TEST_F(RingDrainTest, the_last_round_takes_everything_and_counts_what_nobody_will_finish) {
  to_.keeps = true;
  write(0, 1);
  const ring::Reservation unfinished = reserve(2);
  ASSERT_NE(unfinished.record, nullptr);
  write_shared(3, kPid);
  discard(1, 4);
  drain_.finish(to_);
  EXPECT_THAT(to_.taken, ElementsAre(Taken(0, kPid, 1), Taken(kShared, kPid, 3)));
  EXPECT_THAT(to_.told, ElementsAre(Told(1, 4, 1), Told(kShared, 1, 2)));
  EXPECT_EQ(drain_.stats().discarded, 1u);
  EXPECT_EQ(region_.ring_control(0)->consumed, kRecordSize);
}

TEST_F(RingDrainTest, the_shared_ring_is_complete_up_to_its_oldest_unfinished_slot) {
  const uint64_t before = ctf::HostClocks::tsc();
  const ring::Reservation unfinished = reserve(1);
  round();
  EXPECT_LT(drain_.shared_complete_until(), before);
  ring::commit(unfinished);
  round();
  EXPECT_GT(drain_.shared_complete_until(), before);
}

TEST(RingDrain, while_counting_there_is_nothing_to_drain) {
  abi::Geometry counting = kGeometry;
  counting.subbuf_size = 0;
  counting.slot_size = 0;
  counting.slot_count = 0;
  const ring::TestRegion region(counting);
  RingDrain drain({.geometry = counting, .region = region.region(), .vpid = kPid, .start_tsc = 0}, true);
  Collected to{.keeps = true};
  EXPECT_EQ(drain.rows(), 0u);
  EXPECT_EQ(drain.ring_size(), 0u);
  EXPECT_EQ(drain.drain(1, to), 0u);
  drain.finish(to);
  EXPECT_THAT(to.taken, IsEmpty());
  EXPECT_EQ(drain.shared_complete_until(), UINT64_MAX);
}

TEST(RingDrain, times_may_be_nanoseconds) {
  const ring::TestRegion region(kGeometry);
  RingDrain drain({.geometry = kGeometry,
                   .region = region.region(),
                   .vpid = kPid,
                   .start_tsc = ctf::HostClocks::monotonic_ns()},
                  true);
  drain.set_record_size(kClass, kRecordSize);
  const uint64_t record[] = {abi::make_header(kClass, ctf::HostClocks::monotonic_ns()), 9};
  std::memcpy(region.ring_data(0), record, sizeof record);
  region.ring_control(0)->pos = sizeof record;
  Collected to;
  drain.drain(1, to);
  EXPECT_THAT(to.taken, ElementsAre(Taken(0, kPid, 9)));
}

}  // namespace
}  // namespace blip::session
