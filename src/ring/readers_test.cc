// SPDX-License-Identifier: MIT
// Who reads where, and who is waited for; safe_reads_test.cc lets them race.
#include "ring/readers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "ring/doomed.h"
#include "ring/range_publisher.h"
#include "ring/test_leaderless.h"
#include "ring/test_region.h"

namespace blip::ring {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 1, .class_count = 2, .ranges = true};

// A thread's memory, as far as others look at it: its rseq_cs, and a descriptor with its owner.
struct Section {
  uint64_t owner;
  uint64_t descriptor[4];
};

class Readers : public testing::Test {
 protected:
  Readers() {
    region_.gate()->own_ranges = 1;
    const AddrRange all[] = {{TargetAddr(0x10000), TargetAddr(0x90000)}};
    EXPECT_TRUE(publisher_.publish(publisher_.begin().value(), all, TargetAddr(0)));
    reading_ = find_reading(ranges(), thread());
    section_.owner = reinterpret_cast<uint64_t>(control());
  }
  uint8_t* control() const { return region_.region(); }
  abi::RangeControl& ranges() const { return *range_control(control()); }
  uint64_t thread() const { return reinterpret_cast<uint64_t>(&rseq_cs_); }
  void enter() { rseq_cs_ = reinterpret_cast<uint64_t>(section_.descriptor); }

  // True if a call waits for the section to be left.
  bool waits(uint64_t begin, uint64_t end) {
    std::atomic<bool> left = false;
    std::thread reader([&] {
      ::usleep(20'000);
      left = true;
      __atomic_store_n(&rseq_cs_, 0, __ATOMIC_SEQ_CST);
    });
    EXPECT_TRUE(begin_unmap(control(), begin, end));
    const bool waited = left;
    end_unmap(control());
    reader.join();
    return waited;
  }

  TestRegion region_{kGeometry};
  RangePublisher publisher_{kGeometry, region_.region()};
  uint64_t rseq_cs_ = 0;
  Section section_{};
  abi::Reading* reading_ = nullptr;
};

TEST_F(Readers, each_thread_has_one_place) {
  EXPECT_EQ(find_reading(ranges(), thread()), reading_);
  EXPECT_NE(find_reading(ranges(), thread() + 0x801000), reading_);
}

TEST_F(Readers, threads_with_the_same_first_place_and_no_place_left) {
  const uint64_t first = 0x7000'0000'0000;
  abi::Reading* const place = find_reading(ranges(), first);
  unsigned found = 0;
  for (uint64_t other = first + 8; found < 64; other += 8) {
    if (abi::reader_index(other) != abi::reader_index(first)) continue;
    abi::Reading* const another = find_reading(ranges(), other);
    EXPECT_NE(another, place);
    EXPECT_EQ(find_reading(ranges(), other), another);
    if (another == nullptr) break;
    ++found;
  }
  EXPECT_GE(found, 62u);
  EXPECT_LT(found, 64u);
}

TEST_F(Readers, who_reads_there_is_waited_for) {
  enter();
  reading_->address = 0x20000;
  EXPECT_TRUE(waits(0x20000, 0x21000));
}

TEST_F(Readers, but_not_for_its_next_section) {
  enter();
  reading_->address = 0x20000;
  std::thread reader([&] {
    ::usleep(20'000);
    __atomic_fetch_add(&reading_->sections, 1, __ATOMIC_SEQ_CST);
  });
  EXPECT_TRUE(begin_unmap(control(), 0x20000, 0x21000));
  EXPECT_EQ(reading_->sections, 1u);
  EXPECT_NE(rseq_cs_, 0u);
  end_unmap(control());
  reader.join();
}

TEST_F(Readers, a_text_may_reach_into_it) {
  enter();
  reading_->address = 0x20000;
  EXPECT_TRUE(waits(0x20000 + abi::kMaxReadingSize - 1, 0x80000));
}

TEST_F(Readers, not_who_reads_elsewhere) {
  enter();
  reading_->address = 0x20000;
  EXPECT_FALSE(waits(0x10000, 0x20000));
  EXPECT_FALSE(waits(0x20000 + abi::kMaxReadingSize, 0x80000));
}

TEST_F(Readers, not_who_has_left_the_section) {
  reading_->address = 0x20000;
  EXPECT_FALSE(waits(0x20000, 0x21000));
}

TEST_F(Readers, not_who_is_in_somebody_elses_section) {
  enter();
  section_.owner = 0;
  reading_->address = 0x20000;
  EXPECT_FALSE(waits(0x20000, 0x21000));
}

TEST_F(Readers, not_a_thread_whose_memory_is_gone) {
  find_reading(ranges(), 0x1000)->address = 0x20000;
  EXPECT_FALSE(waits(0x20000, 0x21000));
}

TEST_F(Readers, who_reads_what_was_given_up_with_something_else) {
  enter();
  reading_->address = 0x50000;
  EXPECT_FALSE(waits(0x20000, 0x21000));  // takes all behind it out of the table
  enter();
  EXPECT_TRUE(waits(0x50000, 0x51000));
}

TEST_F(Readers, who_reads_by_an_earlier_publication) {
  enter();
  reading_->address = 0x50000;
  const AddrRange another[] = {{TargetAddr(0x10000), TargetAddr(0x20000)}};
  ASSERT_TRUE(publisher_.publish(publisher_.begin().value(), another, TargetAddr(0)));
  EXPECT_TRUE(waits(0x50000, 0x51000));
}

// So that every section by the one before is over: whether who reads it says so is seen only then.
TEST_F(Readers, the_first_call_after_a_publication_restarts_all) {
  EXPECT_NE(ranges().settled, abi::range_publication(ranges().word));
  ASSERT_TRUE(begin_unmap(control(), 0xa0000, 0xa1000));
  end_unmap(control());
  EXPECT_EQ(ranges().settled, abi::range_publication(ranges().word));
}

TEST_F(Readers, in_a_process_that_is_named_after_an_ended_thread) {
  EXPECT_TRUE(in_leaderless_process([&] {
    enter();
    reading_->address = 0x20000;
    return waits(0x20000, 0x21000);
  }));
}

TEST_F(Readers, who_never_leaves_is_given_up) {
  enter();
  reading_->address = 0x20000;
  EXPECT_TRUE(begin_unmap(control(), 0x20000, 0x21000));
  end_unmap(control());
}

TEST_F(Readers, threads_whose_memory_is_unmapped_make_room) {
  const uint64_t other = 0x20018;
  find_reading(ranges(), other)->address = 0x30000;
  const uint64_t args[6] = {0x20000, 0x1000};
  ASSERT_TRUE(begin_call(control(), kMunmap, args));
  end_unmap(control());
  EXPECT_EQ(ranges().readers[abi::reader_index(other)], 0u);
  EXPECT_EQ(ranges().readers[abi::reader_index(thread())], thread());
}

}  // namespace
}  // namespace blip::ring
