// SPDX-License-Identifier: MIT
#include "session/plan/probe_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "session/plan/classes.h"

namespace blip::session {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Options with(std::initializer_list<std::pair<const char*, ProbeKind>> requests, Mode mode = Mode::kRecord) {
  Options options;
  options.mode = mode;
  for (const auto& [spec, kind] : requests) {
    options.probes.push_back({.spec = *elf::parse_spec(spec), .contexts = {}});
    options.probes.back().kind = kind;
  }
  return options;
}

TEST(ProbeRoom, the_user_allows_many_probes) {
  const Options functions = with({{"f*", ProbeKind::kFunction}, {"g*", ProbeKind::kReturn}});
  EXPECT_TRUE(check_number(functions, functions.max_probes));
  EXPECT_THAT(check_number(functions, 30'000).error().message(),
              StartsWith("30000 functions match, more than 20000: say --max-probes 30000"));
  const Options instructions = with({{"f", ProbeKind::kFunction}, {"g*", ProbeKind::kEveryInstruction}});
  EXPECT_THAT(check_number(instructions, 30'000).error().message(), StartsWith("30000 instructions match"));
}

TEST(ProbeRoom, histograms_have_a_limit_of_their_own) {
  Options options = with({{"f*", ProbeKind::kReturn}}, Mode::kCount);
  constexpr size_t kTooMany = 50'000'000;
  options.max_probes = kTooMany;
  EXPECT_TRUE(check_number(options, kTooMany));
  options.latencies = true;
  EXPECT_TRUE(check_number(options, 10));
  EXPECT_THAT(check_number(options, kTooMany).error().message(), HasSubstr("name fewer functions"));
}

TEST(ProbeRoom, records_have_fewer_classes_than_counters) {
  const size_t records = most_classes(with({}));
  EXPECT_EQ(records, abi::kMaxClasses - abi::kFirstClass);
  EXPECT_GT(most_classes(with({}, Mode::kCount)), records);
}

TEST(ProbeRoom, what_is_set_aside_for_libraries_that_come_later) {
  constexpr size_t kLeastProbes = 2048, kPointsPerCall = 16;
  const auto name = with({{"f", ProbeKind::kFunction}}), pattern = with({{"f*", ProbeKind::kFunction}}),
             returned = with({{"f*", ProbeKind::kReturn}});
  const auto counted = with({{"f*", ProbeKind::kFunction}}, Mode::kCount);
  const size_t all = name.max_probes;
  const struct {
    const char* what;
    const Options& options;
    RequestMask late;
    size_t targets, classes, expected_classes, expected_probes;
  } cases[] = {
      {"nothing may come", name, {}, 0, 0, 0, 0},
      {"none of the requests", name, {false}, 0, 0, 0, kLeastProbes},
      {"a name, which may stand for many functions", name, {true}, 0, 0, kMaxOwnClasses + 1, all},
      {"a pattern, whose events share a class", pattern, {true}, 0, 0, kMaxOwnClasses + 1, all},
      {"a pattern that is counted", counted, {true}, 0, 0, all, all},
      {"some of it is used", counted, {true}, 5000, 5000, all - 5000, all - 5000},
      {"all of it is used", counted, {true}, all, all, 0, kLeastProbes},
      {"more than all of it", counted, {true}, 2 * all, 2 * all, 0, kLeastProbes},
      {"returns need more points", returned, {true}, 0, 0, kMaxOwnClasses + 1, kPointsPerCall * all},
  };
  for (const auto& c : cases) {
    const SpareRoom room = spare_room(c.options, c.late, c.targets, c.classes);
    EXPECT_EQ(room.classes, c.expected_classes) << c.what;
    EXPECT_EQ(room.probes, c.expected_probes) << c.what;
  }
}

TEST(ProbeRoom, histograms_that_may_come_take_no_more_than_asked) {
  Options options = with({{"f*", ProbeKind::kReturn}}, Mode::kCount);
  options.latencies = true;
  const uint32_t unasked = spare_room(options, {true}, 0, 0).classes;
  EXPECT_GT(unasked, 0u);
  options.max_probes = 10'000'000;
  EXPECT_GT(spare_room(options, {true}, 0, 0).classes, unasked);
}

TEST(ProbeRoom, regions_hold_what_is_asked_for) {
  Options options = with({{"f", ProbeKind::kFunction}});
  const RegionNeeds needs{.classes = 9, .largest_record = 100, .subbuf_size = 1 << 16};
  abi::Geometry g = region_geometry(options, needs);
  EXPECT_EQ(g.class_count, 9u);
  EXPECT_EQ(g.subbuf_size, 1u << 16);
  EXPECT_GE(g.slot_size, 116u);
  EXPECT_TRUE(std::has_single_bit(g.slot_size) && std::has_single_bit(g.slot_count));
  EXPECT_EQ(g.stack_depth, 0u);
  EXPECT_FALSE(g.ranges);
  const uint64_t usual = uint64_t{g.slot_size} * g.slot_count;

  g = region_geometry(options,
                      {.classes = 9, .largest_record = 8, .subbuf_size = 1 << 20, .rings_unused = true});
  EXPECT_EQ(g.subbuf_size, 4096u) << "nobody writes there";
  EXPECT_GT(uint64_t{g.slot_size} * g.slot_count, usual) << "everybody writes here";
  EXPECT_EQ(g.slot_size, 64u);

  g = region_geometry(options, {.subbuf_size = 4096, .reads_memory = true, .walks_stacks = true});
  EXPECT_TRUE(g.ranges);
  EXPECT_GT(g.stack_slots, 0u);
  EXPECT_GT(g.stack_depth, 0u);

  options.mode = Mode::kCount;
  g = region_geometry(options, needs);
  EXPECT_EQ(g.class_count, 9u);
  EXPECT_EQ(g.slot_count, abi::Geometry().slot_count) << "counts have no rings";
}

}  // namespace
}  // namespace blip::session
