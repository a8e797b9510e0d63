// SPDX-License-Identifier: MIT
#include "probe/patch/trace_probes.h"

#include <gtest/gtest.h>

namespace blip::probe {
namespace {

Probe probe(size_t group = Probe::kAlone, uint32_t class_id = 0) {
  Probe p;
  p.group = group;
  p.action.class_id = class_id;
  return p;
}

Probe with_thread_id() {
  Probe p = probe();
  p.action.fields.emplace_back().capture = jit::Capture::kTid;
  return p;
}

constexpr TraceProbes::Spare kNone{.count = 0, .asks_kernel = true};

TEST(TraceProbes, numbers_go_on_where_the_last_ones_ended) {
  TraceProbes probes({probe(), probe()}, kNone);
  EXPECT_EQ(probes.fresh()[1].action.switch_index, 1u);
  probes.settle();
  EXPECT_EQ(probes.first_fresh(), 2u);
  probes.add({probe(Probe::kAlone, 6)});
  EXPECT_EQ(probes.count(), 3u);
  EXPECT_EQ(probes.fresh()[2].action.switch_index, 2u);
  EXPECT_EQ(probes.classes(), 7u) << "of those that are being armed";
}

TEST(TraceProbes, the_kernel_stays_needed_when_the_programs_are_given_up) {
  TraceProbes plain({probe()}, kNone);
  EXPECT_FALSE(plain.ask_kernel());
  plain.add({with_thread_id()});
  EXPECT_TRUE(plain.ask_kernel());
  plain.settle();
  EXPECT_TRUE(plain.ask_kernel());
}

TEST(TraceProbes, what_may_come_later_counts) {
  EXPECT_TRUE(TraceProbes({}, {.count = 1, .asks_kernel = true}).ask_kernel());
  EXPECT_TRUE(TraceProbes({}, {.count = 1, .asks_kernel = true}).collect());
  EXPECT_FALSE(TraceProbes({}, {.count = 1, .asks_kernel = false}).ask_kernel());
  EXPECT_FALSE(TraceProbes({}, {.count = 0, .asks_kernel = true}).ask_kernel());
}

TEST(TraceProbes, a_group_is_found_by_any_of_its_numbers) {
  TraceProbes probes({probe(5), probe(), probe(5), probe(6)}, kNone);
  EXPECT_EQ(probes.group_members({0}), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(probes.group_members({1}), std::vector<size_t>{}) << "alone";
  EXPECT_EQ(probes.group_members({2, 3}), (std::vector<size_t>{0, 2, 3}));
}

// A library that comes back is armed again long after its probes' programs were given up.
TEST(TraceProbes, groups_are_known_of_probes_that_are_armed_and_of_later_ones) {
  TraceProbes probes({probe(5), probe(5)}, kNone);
  probes.settle();
  probes.add({probe(), probe(9), probe(9)});
  EXPECT_EQ(probes.group_members({1}), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(probes.group_members({4}), (std::vector<size_t>{3, 4}));
  probes.settle();
  EXPECT_EQ(probes.group_members({4}), (std::vector<size_t>{3, 4}));
}

}  // namespace
}  // namespace blip::probe
