// SPDX-License-Identifier: MIT
#include "session/drain/live_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "abi/layout.h"

namespace blip::session {
namespace {

using testing::ElementsAre;

struct Merged {
  std::vector<ctf::EventClass> classes{{.id = abi::kFirstClass, .name = "f", .record_size = 8}};
  std::vector<uint64_t> times;
  LiveMerge merge{[this](const EventView& e) { times.push_back(e.time_ns); }, classes};

  void add(uint64_t time) {
    const uint64_t record = time;
    merge.add(time, abi::kFirstClass, reinterpret_cast<const uint8_t*>(&record), sizeof record);
  }
};

TEST(LiveMerge, orders_the_rings_by_time) {
  Merged m;
  for (uint64_t t : {10, 30, 50}) m.add(t);
  for (uint64_t t : {20, 40}) m.add(t);
  EXPECT_EQ(m.merge.show(100, 100), 5u);
  EXPECT_THAT(m.times, ElementsAre(10, 20, 30, 40, 50));
}

TEST(LiveMerge, holds_back_what_may_have_an_elder) {
  Merged m;
  for (uint64_t t : {10, 30}) m.add(t);
  EXPECT_EQ(m.merge.show(20, 100), 1u);
  m.add(25);
  EXPECT_EQ(m.merge.show(40, 100), 2u);
  EXPECT_THAT(m.times, ElementsAre(10, 25, 30));
}

TEST(LiveMerge, stops_while_its_reader_is_full_and_goes_on_later) {
  Merged m;
  m.merge.stop_when([&] { return m.times.size() == 1; });
  for (uint64_t t : {1, 2, 3}) m.add(t);
  EXPECT_EQ(m.merge.show(2, UINT64_MAX), 1U);
  EXPECT_TRUE(m.merge.is_held_up());
  m.merge.stop_when({});
  EXPECT_EQ(m.merge.go_on(UINT64_MAX), 1U);
  EXPECT_FALSE(m.merge.is_held_up());
  EXPECT_THAT(m.times, ElementsAre(1, 2));
}

TEST(LiveMerge, stops_at_the_limit) {
  Merged m;
  for (uint64_t t : {1, 2, 3}) m.add(t);
  EXPECT_EQ(m.merge.show(10, 2), 2u);
  EXPECT_THAT(m.times, ElementsAre(1, 2));
}

TEST(LiveMerge, an_event_that_comes_after_a_younger_one_was_shown_is_counted) {
  Merged m;
  for (uint64_t t : {10, 30}) m.add(t);
  m.merge.show(40, 100);
  m.add(30);
  EXPECT_EQ(m.merge.late(), 0u);
  m.add(29);
  EXPECT_EQ(m.merge.late(), 1u);
  EXPECT_EQ(m.merge.show(40, 100), 2u) << "it is shown all the same";
}

// Sources that hand out their events in order, each as late as it likes.
TEST(LiveMerge, random_sources_are_shown_in_order_up_to_where_all_are_complete) {
  struct Source {
    std::deque<uint64_t> held;
    uint64_t complete_until(uint64_t now) const { return held.empty() ? now : held.front() - 1; }
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Merged m;
    std::vector<Source> sources(1 + random() % 5);
    std::vector<uint64_t> all;
    for (uint64_t now = 1; now < 400; ++now) {
      if (random() % 2 == 0) {
        sources[random() % sources.size()].held.push_back(now);
        all.push_back(now);
      }
      if (random() % 8 != 0 && now != 399) continue;
      uint64_t until = now;
      for (Source& s : sources) {
        const size_t count = now == 399 ? s.held.size() : random() % (s.held.size() + 1);
        for (size_t i = 0; i < count; ++i, s.held.pop_front()) m.add(s.held.front());
        until = std::min(until, s.complete_until(now));
      }
      m.merge.show(until, UINT64_MAX);
      const auto due = std::upper_bound(all.begin(), all.end(), until);
      ASSERT_EQ(m.times, std::vector<uint64_t>(all.begin(), due)) << "seed " << seed << " at " << now;
    }
    ASSERT_EQ(m.times, all);
    ASSERT_EQ(m.merge.late(), 0u);
  }
}

}  // namespace
}  // namespace blip::session
