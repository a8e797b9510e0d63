// SPDX-License-Identifier: MIT
#include "session/run/hit_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace blip::session {
namespace {

QueuedHit hit_at(uint64_t time, uint32_t size) {
  return {.time_ns = time, .stack = 0, .size = size, .pid = 1, .class_id = 2};
}

TEST(HitQueue, merges_rings_by_time_and_keeps_records) {
  std::mt19937 random(1);
  HitQueue queue;
  std::vector<HitQueue::Ring> rings;
  for (int i = 0; i < 5; ++i) rings.push_back(queue.open_ring());
  std::vector<uint64_t> times(rings.size()), expected, seen;
  const auto take = [&] {
    const uint64_t time = queue.oldest_ns();
    const auto record = queue.oldest_record();
    ASSERT_EQ(record.size(), 8 + time % 9);
    for (uint8_t byte : record) ASSERT_EQ(byte, static_cast<uint8_t>(time));
    seen.push_back(time);
    queue.drop_oldest();
  };
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 50; ++i) {
      const size_t ring = random() % rings.size();
      const uint64_t time = times[ring] =
          std::max(times[ring], seen.empty() ? 0 : seen.back()) + random() % 100;
      const std::vector<uint8_t> record(8 + time % 9, static_cast<uint8_t>(time));
      queue.add(rings[ring], hit_at(time, static_cast<uint32_t>(record.size())), record.data());
      expected.push_back(time);
    }
    const uint64_t until = *std::min_element(times.begin(), times.end());
    while (!queue.empty() && queue.oldest_ns() < until) take();
  }
  while (!queue.empty()) take();
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(queue.bytes(), 0U);
  EXPECT_EQ(queue.late(), 0U);
}

TEST(HitQueue, a_closed_ring_is_used_again_when_its_records_have_gone) {
  HitQueue queue;
  const uint8_t byte = 0;
  const auto first = queue.open_ring(), second = queue.open_ring();
  queue.add(first, hit_at(10, 1), &byte);
  queue.close_ring(first);
  queue.close_ring(second);
  EXPECT_EQ(queue.open_ring(), second);
  EXPECT_EQ(queue.oldest_ns(), 10U);
  queue.drop_oldest();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.open_ring(), first);
  queue.add(first, hit_at(5, 1), &byte);  // its times begin anew
  EXPECT_EQ(queue.oldest_ns(), 5U);
  EXPECT_EQ(queue.late(), 0U);
}

TEST(HitQueue, a_time_that_goes_back_is_that_of_the_record_before) {
  HitQueue queue;
  const auto ring = queue.open_ring();
  const uint8_t byte = 0;
  queue.add(ring, hit_at(10, 1), &byte);
  queue.add(ring, hit_at(9, 1), &byte);
  queue.drop_oldest();
  EXPECT_EQ(queue.oldest_ns(), 10U);
  EXPECT_EQ(queue.late(), 1U);
}

}  // namespace
}  // namespace blip::session
