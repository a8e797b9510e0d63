// SPDX-License-Identifier: MIT
#include "session/drain/live_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>

#include "abi/layout.h"

namespace blip::session {
namespace {

using testing::ElementsAre;

struct Merged {
  std::vector<ctf::EventClass> classes{
      {.id = abi::kFirstClass, .name = "f", .record_size = 8},
      {.id = abi::kFirstClass + 1, .name = "own", .record_size = 8, .of_blip = true}};
  std::vector<uint64_t> times;
  std::vector<uint64_t> values;
  LiveMerge merge{[this](const EventView& e) {
                    times.push_back(e.time_ns);
                    values.emplace_back();
                    std::memcpy(&values.back(), e.record.data(), sizeof values.back());
                  },
                  classes};
  LiveMerge::Source source = merge.open();

  void add(LiveMerge::Source to, uint64_t time, uint16_t class_id = abi::kFirstClass) {
    const uint64_t record = time;
    merge.add(to, time, class_id, reinterpret_cast<const uint8_t*>(&record), sizeof record);
  }
  void add(uint64_t time) { add(source, time); }
  uint64_t show(uint64_t until, uint64_t limit) {
    merge.complete(source, until);
    return merge.show(limit);
  }
};

TEST(LiveMerge, orders_the_rings_by_time) {
  Merged m;
  for (uint64_t t : {10, 30, 50}) m.add(t);
  const auto other = m.merge.open();
  for (uint64_t t : {20, 40}) m.add(other, t);
  m.merge.close(other);
  EXPECT_EQ(m.show(100, 100), 5u);
  EXPECT_THAT(m.times, ElementsAre(10, 20, 30, 40, 50));
}

TEST(LiveMerge, holds_back_what_may_have_an_elder) {
  Merged m;
  for (uint64_t t : {10, 30}) m.add(t);
  EXPECT_EQ(m.show(20, 100), 1u);
  m.add(25);
  EXPECT_EQ(m.show(40, 100), 2u);
  EXPECT_THAT(m.times, ElementsAre(10, 25, 30));
}

TEST(LiveMerge, stops_while_its_reader_is_full_and_goes_on_later) {
  Merged m;
  m.merge.stop_when([&] { return m.times.size() == 1; });
  for (uint64_t t : {1, 2, 3}) m.add(t);
  EXPECT_EQ(m.show(2, UINT64_MAX), 1U);
  EXPECT_TRUE(m.merge.is_held_up());
  m.merge.stop_when({});
  EXPECT_EQ(m.merge.show(UINT64_MAX), 1U);
  EXPECT_FALSE(m.merge.is_held_up());
  EXPECT_THAT(m.times, ElementsAre(1, 2));
}

TEST(LiveMerge, stops_at_the_limit) {
  Merged m;
  for (uint64_t t : {1, 2, 3}) m.add(t);
  EXPECT_EQ(m.show(10, 2), 2u);
  EXPECT_THAT(m.times, ElementsAre(1, 2));
}

TEST(LiveMerge, an_event_that_comes_after_a_younger_one_was_shown_is_counted) {
  Merged m;
  for (uint64_t t : {10, 30}) m.add(t);
  m.show(40, 100);
  m.add(30);
  EXPECT_EQ(m.merge.late(), 0u);
  m.add(29);
  EXPECT_EQ(m.merge.late(), 1u);
  EXPECT_EQ(m.show(40, 100), 2u) << "it is shown all the same";
}

TEST(LiveMerge, waits_for_the_source_that_is_furthest_behind) {
  Merged m;
  LiveSource other(m.merge);
  m.add(10);
  m.add(30);
  EXPECT_EQ(m.show(100, 100), 0u) << "the other one has not said how far it is";
  other.complete(20);
  EXPECT_EQ(m.show(100, 100), 1u);
  const uint64_t record = 25;
  other.add(25, abi::kFirstClass, reinterpret_cast<const uint8_t*>(&record), sizeof record);
  other.complete(100);
  EXPECT_EQ(m.show(100, 100), 2u);
  EXPECT_THAT(m.times, ElementsAre(10, 25, 30));
}

TEST(LiveMerge, does_not_wait_for_a_source_that_has_ended) {
  Merged m;
  auto other = std::make_unique<LiveSource>(m.merge);
  m.add(10);
  EXPECT_EQ(m.show(100, 100), 0u);
  other.reset();
  EXPECT_EQ(m.show(100, 100), 1u);
  m.add(200);
  EXPECT_EQ(m.merge.show_all(100), 1u) << "at the end nobody is waited for";
}

TEST(LiveMerge, events_of_blip_itself_are_shown_and_not_counted) {
  Merged m;
  m.add(m.source, 1, abi::kFirstClass + 1);
  for (uint64_t t : {2, 3}) m.add(t);
  EXPECT_EQ(m.merge.pending(), 2u);
  EXPECT_EQ(m.show(10, 1), 1u);
  EXPECT_THAT(m.times, ElementsAre(1, 2));
  EXPECT_EQ(m.merge.pending(), 1u);
  EXPECT_EQ(m.merge.own_shown(), 1u);
}

// What was shown is removed from below events that still wait.
TEST(LiveMerge, events_that_wait_keep_their_bytes) {
  Merged m;
  for (uint64_t t = 1; t <= 100; ++t) m.add(t);
  EXPECT_EQ(m.show(60, 1000), 60u);
  for (uint64_t t = 101; t <= 110; ++t) m.add(t);
  EXPECT_EQ(m.show(1000, 1000), 50u);
  EXPECT_EQ(m.values, m.times);
}

// Sources that hand out their events in order, each as late as it likes.
TEST(LiveMerge, random_sources_are_shown_in_order_up_to_where_all_are_complete) {
  struct Source {
    LiveMerge::Source id;
    std::deque<uint64_t> held{};
    uint64_t complete_until(uint64_t now) const { return held.empty() ? now : held.front() - 1; }
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Merged m;
    std::vector<Source> sources{{m.source}};
    for (unsigned i = random() % 5; i > 0; --i) sources.push_back({m.merge.open()});
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
        for (size_t i = 0; i < count; ++i, s.held.pop_front()) m.add(s.id, s.held.front());
        m.merge.complete(s.id, s.complete_until(now));
        until = std::min(until, s.complete_until(now));
      }
      m.merge.show(UINT64_MAX);
      const auto due = std::upper_bound(all.begin(), all.end(), until);
      ASSERT_EQ(m.times, std::vector<uint64_t>(all.begin(), due)) << "seed " << seed << " at " << now;
    }
    ASSERT_EQ(m.times, all);
    ASSERT_EQ(m.merge.late(), 0u);
  }
}

}  // namespace
}  // namespace blip::session
