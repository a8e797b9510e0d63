// SPDX-License-Identifier: MIT
#include "session/live_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(LiveMerge, stops_at_the_limit) {
  Merged m;
  for (uint64_t t : {1, 2, 3}) m.add(t);
  EXPECT_EQ(m.merge.show(10, 2), 2u);
  EXPECT_THAT(m.times, ElementsAre(1, 2));
}

}  // namespace
}  // namespace blip::session
