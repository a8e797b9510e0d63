// SPDX-License-Identifier: MIT
#include "state/map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace blip::state {
namespace {

Key key(uint64_t number) {
  Key k;
  k.add(number);
  return k;
}

Key key(std::string_view text, uint64_t number) {
  Key k;
  k.add(text);
  k.add(number);
  return k;
}

MapType numbers(uint32_t limit, WhenFull when_full = WhenFull::kFail) {
  return {.key = {ValueType::kNumber}, .limit = limit, .when_full = when_full};
}

// The first components of the keys, in the order of the walk.
std::vector<uint64_t> walked(const Map& map, const Order& order = {}, uint64_t limit = UINT64_MAX) {
  std::vector<uint64_t> result;
  for (const Map::Step& s : map.walk(order, limit)) result.push_back(map.key_of(s, 0).number);
  return result;
}

TEST(Map, a_scalar_is_the_value_of_the_empty_key) {
  Map map({.value = ValueType::kNumber});
  EXPECT_EQ(map.number({}), 0U);
  EXPECT_EQ(map.add({}, 5), 5U);
  EXPECT_EQ(map.add({}, static_cast<uint64_t>(-7)), static_cast<uint64_t>(-2));
  EXPECT_EQ(map.number({}), static_cast<uint64_t>(-2));
}

TEST(Map, keys_have_texts_and_numbers) {
  Map map({.key = {ValueType::kText, ValueType::kNumber}, .value = ValueType::kText, .limit = 10});
  EXPECT_TRUE(map.put(key("a", 1), "one"));
  EXPECT_TRUE(map.put(key(std::string_view("a\0", 2), 1), "other"));
  EXPECT_EQ(map.text(key("a", 1)), "one");
  EXPECT_EQ(map.text(key(std::string_view("a\0", 2), 1)), "other");
  EXPECT_EQ(map.text(key("a", 2)), "");
  const auto steps = map.walk({}, 1);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(map.key_of(steps[0], 0).text, "a");
  EXPECT_EQ(map.key_of(steps[0], 1).number, 1U);
}

TEST(Map, a_full_one_fails_drops_or_forgets_the_oldest) {
  Map fails(numbers(2)), drops(numbers(2, WhenFull::kDrop)), replaces(numbers(2, WhenFull::kReplaceOldest));
  for (Map* map : {&fails, &drops, &replaces})
    for (const uint64_t k : {1, 2}) EXPECT_TRUE(map->put(key(k), k));
  EXPECT_FALSE(fails.put(key(3), uint64_t{3}));
  EXPECT_EQ(fails.add(key(3), 3), std::nullopt);
  EXPECT_TRUE(fails.put(key(2), uint64_t{20})) << "this key is there";
  EXPECT_TRUE(drops.put(key(3), uint64_t{3}));
  EXPECT_EQ(drops.add(key(3), 4), 4U);
  EXPECT_EQ(drops.dropped(), 2U);
  EXPECT_FALSE(drops.has(key(3)));
  EXPECT_TRUE(replaces.put(key(1), uint64_t{10})) << "a new value makes a key no younger";
  EXPECT_TRUE(replaces.put(key(3), uint64_t{3}));
  EXPECT_THAT(walked(replaces), testing::ElementsAre(2, 3));
}

TEST(Map, zero_keeps_the_keys_and_clear_does_not) {
  Map map({.key = {ValueType::kNumber}, .value = ValueType::kStats, .limit = 4});
  EXPECT_TRUE(map.tally(key(1), 7));
  map.zero();
  EXPECT_TRUE(map.has(key(1)));
  EXPECT_EQ(map.stats(key(1)).count, 0U);
  map.clear();
  EXPECT_EQ(map.size(), 0U);
  EXPECT_FALSE(map.has(key(1)));
  EXPECT_TRUE(map.tally(key(1), 8));
  EXPECT_EQ(map.stats(key(1)).sum, 8U);
}

TEST(Map, walks_in_the_order_asked_for) {
  Map map(numbers(10));
  const std::pair<uint64_t, int64_t> all[] = {{5, 1}, {3, -9}, {4, 1}, {1, 70}};
  for (const auto& [k, v] : all) EXPECT_TRUE(map.put(key(k), static_cast<uint64_t>(v)));
  using By = Order::By;
  using testing::ElementsAre;
  EXPECT_THAT(walked(map), ElementsAre(5, 3, 4, 1));
  EXPECT_THAT(walked(map, {.is_descending = true}), ElementsAre(1, 4, 3, 5));
  EXPECT_THAT(walked(map, {.by = By::kKey}), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(walked(map, {.by = By::kValue}), ElementsAre(3, 5, 4, 1)) << "equal ones by age";
  EXPECT_THAT(walked(map, {.by = By::kValue, .is_descending = true}), ElementsAre(1, 5, 4, 3));
  EXPECT_THAT(walked(map, {.by = By::kValue, .is_descending = true}, 2), ElementsAre(1, 5));
  EXPECT_THAT(walked(map, {}, 0), ElementsAre());
}

TEST(Map, walks_by_what_its_stats_say) {
  Map map({.key = {ValueType::kNumber}, .value = ValueType::kStats, .limit = 4});
  for (const int v : {1, 1, 1}) EXPECT_TRUE(map.tally(key(1), static_cast<uint64_t>(v)));
  EXPECT_TRUE(map.tally(key(2), 9));
  const auto by = [](Statistic s) {
    return Order{.by = Order::By::kStatistic, .which = static_cast<uint8_t>(s)};
  };
  EXPECT_THAT(walked(map, by(Statistic::kCount)), testing::ElementsAre(2, 1));
  EXPECT_THAT(walked(map, by(Statistic::kAverage)), testing::ElementsAre(1, 2));
}

TEST(Map, a_walk_passes_over_what_is_gone) {
  Map map(numbers(4));
  for (const uint64_t k : {1, 2, 3}) EXPECT_TRUE(map.put(key(k), k));
  const auto steps = map.walk({}, UINT64_MAX);
  EXPECT_TRUE(map.erase(key(2)));
  EXPECT_TRUE(map.put(key(4), uint64_t{4})) << "it takes the place of 2";
  EXPECT_TRUE(map.is_there(steps[0]));
  EXPECT_FALSE(map.is_there(steps[1]));
  EXPECT_FALSE(map.erase(key(2)));
}

// The same by a list of pairs, which is searched from its beginning.
TEST(Map, random_updates_leave_what_a_list_has) {
  std::mt19937_64 random(5);
  for (const WhenFull when_full : {WhenFull::kFail, WhenFull::kDrop, WhenFull::kReplaceOldest}) {
    Map map(numbers(60, when_full));
    std::deque<std::pair<uint64_t, uint64_t>> list;
    const auto in_list = [&](uint64_t k) {
      return std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.first == k; });
    };
    for (int i = 0; i < 20000; ++i) {
      const uint64_t k = random() % 90, v = random() % 100;
      const auto there = in_list(k);
      if (random() % 3 == 0) {
        EXPECT_EQ(map.erase(key(k)), there != list.end());
        if (there != list.end()) list.erase(there);
      } else if (there != list.end()) {
        EXPECT_EQ(map.add(key(k), v), there->second += v);
      } else {
        const bool is_full = list.size() == 60;
        EXPECT_EQ(map.put(key(k), v), !is_full || when_full != WhenFull::kFail);
        if (is_full && when_full == WhenFull::kReplaceOldest) list.pop_front();
        if (!is_full || when_full == WhenFull::kReplaceOldest) list.emplace_back(k, v);
      }
      ASSERT_EQ(map.size(), list.size());
      if (i % 64 == 0) {
        std::vector<uint64_t> keys;
        for (const auto& e : list) keys.push_back(e.first);
        ASSERT_EQ(walked(map), keys);
      }
    }
  }
}

}  // namespace
}  // namespace blip::state
