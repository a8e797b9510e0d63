// SPDX-License-Identifier: MIT
#include "base/time_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace blip {
namespace {

using testing::ElementsAre;

// Takes all items that are due.
template <typename T>
std::vector<T> take_due(TimeMerge<T>& merge) {
  std::vector<T> taken;
  while (merge.oldest() && merge.oldest()->time <= merge.watermark()) taken.push_back(merge.take().value);
  return taken;
}

TEST(TimeMerge, takes_the_items_of_all_sources_by_time) {
  TimeMerge<std::string> merge;
  const auto a = merge.open(), b = merge.open();
  for (uint64_t t : {10, 30, 50}) merge.add(a, t, "a" + std::to_string(t));
  for (uint64_t t : {20, 40}) merge.add(b, t, "b" + std::to_string(t));
  EXPECT_THAT(take_due(merge), ElementsAre()) << "nobody has said how far he is";
  merge.complete(a, 60);
  EXPECT_THAT(take_due(merge), ElementsAre());
  merge.complete(b, 60);
  EXPECT_THAT(take_due(merge), ElementsAre("a10", "b20", "a30", "b40", "a50"));
  EXPECT_EQ(merge.oldest(), nullptr);
}

TEST(TimeMerge, the_watermark_is_the_least_of_all_sources) {
  TimeMerge<int> merge;
  EXPECT_EQ(merge.watermark(), UINT64_MAX);
  const auto a = merge.open(), b = merge.open();
  merge.complete(a, 7);
  EXPECT_EQ(merge.watermark(), 0u);
  merge.complete(b, 9);
  EXPECT_EQ(merge.watermark(), 7u);
  merge.complete(a, 5);
  EXPECT_EQ(merge.watermark(), 7u) << "a promise is kept";
  merge.close(a);
  EXPECT_EQ(merge.watermark(), 9u);
}

TEST(TimeMerge, a_source_that_is_closed_leaves_its_items_and_its_place) {
  TimeMerge<int> merge;
  const auto a = merge.open();
  merge.add(a, 5, 1);
  merge.complete(a, 9);
  merge.close(a);
  const auto b = merge.open();
  EXPECT_NE(a, b) << "its item would be taken for one of the new source";
  merge.complete(b, 5);
  EXPECT_THAT(take_due(merge), ElementsAre(1));
  const auto c = merge.open();
  EXPECT_EQ(c, a);
  EXPECT_EQ(merge.watermark(), 0u) << "a new source begins anew";
}

TEST(TimeMerge, items_of_one_time_are_taken_as_they_were_added) {
  TimeMerge<int> merge;
  const auto a = merge.open(), b = merge.open();
  merge.add(b, 5, 0);
  merge.add(a, 5, 1);
  merge.add(b, 5, 2);
  merge.add(a, 5, 3);
  merge.close(a);
  merge.close(b);
  EXPECT_THAT(take_due(merge), ElementsAre(0, 1, 2, 3));
}

TEST(TimeMerge, an_item_that_is_out_of_order_in_its_source_finds_its_place) {
  TimeMerge<int> merge;
  const auto a = merge.open(), b = merge.open();
  for (int t : {10, 30, 20, 5}) merge.add(a, static_cast<uint64_t>(t), t);
  merge.add(b, 7, 7);
  merge.close(a);
  merge.close(b);
  EXPECT_THAT(take_due(merge), ElementsAre(5, 7, 10, 20, 30));
  EXPECT_EQ(merge.late(), 0u);
}

struct CountsMoves {
  explicit CountsMoves(uint64_t* count) : moves(count) {}
  CountsMoves(CountsMoves&& other) noexcept : moves(other.moves) { ++*moves; }
  CountsMoves& operator=(CountsMoves&& other) noexcept {
    moves = other.moves;
    ++*moves;
    return *this;
  }
  uint64_t* moves;
};

// A process brings what one CPU has recorded, then what another has.
TEST(TimeMerge, items_that_a_source_brings_one_cpu_after_the_other_move_few_others) {
  constexpr uint64_t kCount = 4096, kMostMoves = 64;
  uint64_t moves = 0;
  TimeMerge<CountsMoves> merge;
  const auto source = merge.open();
  for (uint64_t cpu = 0; cpu < 4; ++cpu)
    for (uint64_t i = 0; i < kCount; ++i) merge.add(source, 4 * i + 3 - cpu, CountsMoves(&moves));
  for (uint64_t i = 0; i < 4 * kCount; ++i) ASSERT_EQ(merge.take().time, i);
  EXPECT_LT(moves, 4 * kCount * kMostMoves);
}

TEST(TimeMerge, an_item_that_comes_too_late_is_counted_and_comes_next) {
  TimeMerge<int> merge;
  const auto a = merge.open();
  merge.add(a, 30, 30);
  merge.complete(a, 40);
  EXPECT_THAT(take_due(merge), ElementsAre(30));
  merge.add(a, 30, 31);
  EXPECT_EQ(merge.late(), 0u);
  merge.add(a, 50, 50);
  merge.add(a, 29, 29);
  EXPECT_EQ(merge.late(), 1u);
  EXPECT_THAT(take_due(merge), ElementsAre(29, 31));
}

// Each source makes events now and hands them out later, in order, but for a slow one, which also hands out what
// it has given up before: a slot of the shared ring whose writer commits after the watchdog.
struct Made {
  uint64_t time;
  unsigned source;
  bool operator==(const Made&) const = default;
};

struct DelayedSource {
  TimeMerge<Made>::Source id;
  std::deque<Made> held{};      // made, not handed out
  std::deque<Made> given_up{};  // the others were told not to wait for these

  uint64_t complete_until(uint64_t now) const { return held.empty() ? now : held.front().time - 1; }
};

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {
    for (unsigned i = 1 + random_() % 6; i > 0; --i) sources_.push_back({merge_.open()});
  }

  void run() {
    for (now_ = 1; now_ < 500; ++now_) {
      if (random_() % 2 == 0) make();
      if (random_() % 7 == 0) round(false);
      ASSERT_NO_FATAL_FAILURE(take());
    }
    round(true);
    ASSERT_NO_FATAL_FAILURE(take());
    EXPECT_EQ(merge_.size(), 0u);
    EXPECT_EQ(taken_ + late_taken_, made_) << "nothing is lost";
    EXPECT_EQ(merge_.late(), late_taken_);
  }

 private:
  unsigned any(size_t count) { return static_cast<unsigned>(random_() % count); }

  void make() {
    const unsigned i = any(sources_.size());
    sources_[i].held.push_back({now_, i});
    ++made_;
  }

  void round(bool last) {
    for (DelayedSource& s : sources_) {
      for (size_t n = last ? s.held.size() : any(s.held.size() + 1); n > 0; --n, s.held.pop_front())
        merge_.add(s.id, s.held.front().time, s.held.front());
      if (!s.held.empty() && any(4) == 0) {
        s.given_up.push_back(s.held.front());
        s.held.pop_front();
      }
      if (!s.given_up.empty() && (last || any(3) == 0)) {
        for (const Made& made : s.given_up) merge_.add(s.id, made.time, made);
        s.given_up.clear();
      }
      merge_.complete(s.id, s.complete_until(now_));
    }
  }

  // What is in time comes in order, and never before an older item that is still held.
  void take() {
    while (merge_.oldest() && merge_.oldest()->time <= merge_.watermark()) {
      const Made made = merge_.take().value;
      if (made.time < newest_) {
        ++late_taken_;
        continue;
      }
      for (const DelayedSource& s : sources_) ASSERT_TRUE(s.held.empty() || s.held.front().time > made.time);
      newest_ = made.time;
      ++taken_;
    }
  }

  std::mt19937 random_;
  TimeMerge<Made> merge_;
  std::vector<DelayedSource> sources_;
  uint64_t now_ = 0, newest_ = 0;
  uint64_t made_ = 0, taken_ = 0, late_taken_ = 0;
};

TEST(TimeMerge, random_sources_with_delays_are_merged_in_order_and_nothing_is_lost) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(Model(seed).run());
  }
}

}  // namespace
}  // namespace blip
