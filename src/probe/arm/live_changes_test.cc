// SPDX-License-Identifier: MIT
// Probes that come and go while others count in a working child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "probe/inject/left_region.h"
#include "probe/inject/leftovers.h"
#include "probe/patch/test_tactics.h"

namespace blip::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LiveChanges : public TracedWorker {
 protected:
  LiveChanges() : TracedWorker({tac_plain, tac_pun, tac_run, tac_neighbour}) {}

  std::vector<uint64_t> exact_hits(const Instrumentation& armed, size_t probes) {
    auto result = TracedWorker::exact_hits(armed, probes);
    worker_.run_freely();
    return result;
  }
  size_t pad_mappings() const {
    const auto maps = *proc::read_maps(worker_.pid());
    return static_cast<size_t>(std::count_if(maps.begin(), maps.end(), is_pad_memory));
  }
};

TEST_F(LiveChanges, probes_are_added_switched_and_taken_out) {
  auto armed = traced_.arm(plain(), 20);
  ASSERT_TRUE(armed) << armed.error().message();
  Instrumentation& i = **armed;
  EXPECT_THAT(exact_hits(i, 1), ElementsAre(500));

  ASSERT_TRUE(i.add(traced_.sites(run()), traced_.probes(run(), 1)));
  ASSERT_TRUE(i.add(traced_.sites(pun()), traced_.probes(pun(), 5)));
  for (const auto& [probe, reason] : i.report().refused) ADD_FAILURE() << probe << ": " << reason;
  EXPECT_THAT(exact_hits(i, 6), ElementsAre(500, 500, 500, 500, 500, 500));

  i.switch_probe(2, false);
  EXPECT_THAT(exact_hits(i, 6), ElementsAre(500, 500, 0, 500, 500, 500)) << "two are at its address";
  i.switch_probe(2, true);
  EXPECT_THAT(exact_hits(i, 6), ElementsAre(500, 500, 500, 500, 500, 500));

  for (size_t probe : {0, 5}) ASSERT_TRUE(i.remove(probe));
  const auto plain_bytes = bytes_at(address_of(tac_plain), 10);  // of this process, never changed
  std::vector<uint8_t> now(plain_bytes.size());
  ASSERT_TRUE(traced_.memory_.read(address_of(tac_plain), now));
  EXPECT_EQ(now, plain_bytes) << "the last probe of a site takes its jump away";
  EXPECT_THAT(exact_hits(i, 6), ElementsAre(0, 500, 500, 500, 500, 0));

  ASSERT_TRUE(i.remove(1));
  EXPECT_NE(traced_.text(), text_) << "others share its site";
  EXPECT_THAT(exact_hits(i, 6), ElementsAre(0, 0, 500, 500, 500, 0));

  ASSERT_TRUE(i.add(traced_.sites(plain()), traced_.probes(plain(), 6)));
  EXPECT_THAT(exact_hits(i, 7), ElementsAre(0, 0, 500, 500, 500, 0, 500)) << "again, in a new pad";
  auto removed = i.disarm();
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_FALSE(removed->kept) << removed->kept_reason;
  EXPECT_EQ(removed->foreign, 0u);
  expect_clean();
}

TEST_F(LiveChanges, a_site_that_another_needs_stays_when_its_probe_goes) {
  Plan plan = neighbour();
  plan.probe(0);
  auto armed = traced_.arm(plan, 4);
  ASSERT_TRUE(armed) << armed.error().message();
  EXPECT_THAT(exact_hits(**armed, 2), ElementsAre(500, 500));
  ASSERT_TRUE((*armed)->remove(1));
  EXPECT_THAT(exact_hits(**armed, 2), ElementsAre(500, 0));
  ASSERT_TRUE((*armed)->remove(0));
  EXPECT_THAT(exact_hits(**armed, 2), ElementsAre(0, 0));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST_F(LiveChanges, what_shares_bytes_with_an_armed_probe_is_refused) {
  auto armed = traced_.arm(neighbour(), 4);
  ASSERT_TRUE(armed) << armed.error().message();
  Plan second;
  second.probe(second.add(site_at(address_of(tac_neighbour), 10, x86::Step::kSingle)));
  ASSERT_TRUE((*armed)->add(traced_.sites(second), traced_.probes(second, 1)));
  ASSERT_EQ((*armed)->report().refused.size(), 1u);
  EXPECT_THAT((*armed)->report().refused[0].second, HasSubstr("has, or had, to do with the same bytes"));
  EXPECT_THAT(exact_hits(**armed, 2), ElementsAre(500, 0));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST_F(LiveChanges, no_more_than_was_provided_for) {
  auto armed = traced_.arm(plain(), 1);
  ASSERT_TRUE(armed) << armed.error().message();
  const auto added = (*armed)->add(traced_.sites(run()), traced_.probes(run(), 1));
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message(), HasSubstr("probes were provided for in this trace"));
  EXPECT_THAT(exact_hits(**armed, 1), ElementsAre(500));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST_F(LiveChanges, no_traps_in_a_trace_that_runs) {
  auto armed = traced_.arm(run(), 4);
  ASSERT_TRUE(armed) << armed.error().message();
  Plan trap;
  trap.probe(trap.add(site_at(address_of(tac_plain), 10, x86::Step::kTrap)));
  ASSERT_TRUE((*armed)->add(traced_.sites(trap), traced_.probes(trap, 4)));
  ASSERT_EQ((*armed)->report().refused.size(), 1u);
  EXPECT_EQ((*armed)->report().refused[0].second, "traps cannot be added to a trace that runs");
  EXPECT_THAT(exact_hits(**armed, 5), ElementsAre(500, 500, 500, 500, 0));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

// Each time in a pad of its own, for somebody may be in the old ones.
TEST_F(LiveChanges, a_probe_may_come_and_go_very_often) {
  constexpr size_t kTimes = 300;
  auto armed = traced_.arm(run(), kTimes);
  ASSERT_TRUE(armed) << armed.error().message();
  for (size_t probe = 4; probe < 4 + kTimes; ++probe) {
    const auto added = (*armed)->add(traced_.sites(plain()), traced_.probes(plain(), probe));
    ASSERT_TRUE(added) << added.error().message();
    const bool is_last = probe + 1 == 4 + kTimes;
    ASSERT_TRUE(is_last || (*armed)->remove(probe));
  }
  EXPECT_LT(pad_mappings(), 16u) << "most found room in an area that was there";
  std::vector<uint64_t> hits = exact_hits(**armed, 4 + kTimes);
  EXPECT_EQ(hits.back(), 500u);
  EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), uint64_t{0}), 5u * 500u);
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST(TraceMemory, lists_so_many_mappings_of_pads_and_no_more) {
  EXPECT_TRUE(TraceMemory::check_pad_files(abi::kMaxPadFiles - 1));
  EXPECT_EQ(TraceMemory::check_pad_files(abi::kMaxPadFiles).error().message(),
            "probes were added to this trace too many times");
}

TEST_F(LiveChanges, pads_that_come_later_find_room_where_others_are) {
  auto armed = traced_.arm(run(), 20);
  ASSERT_TRUE(armed) << armed.error().message();
  const size_t before = pad_mappings();
  ASSERT_TRUE((*armed)->add(traced_.sites(plain()), traced_.probes(plain(), 4)));
  EXPECT_EQ(pad_mappings(), before);
  ASSERT_TRUE((*armed)->add(traced_.sites(pun()), traced_.probes(pun(), 5)));
  EXPECT_EQ(pad_mappings(), before + 1) << "its trampoline has a place of its own";
  EXPECT_TRUE((*armed)->report().refused.empty());
  EXPECT_THAT(exact_hits(**armed, 6), ElementsAre(500, 500, 500, 500, 500, 500));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST_F(LiveChanges, probes_come_and_go_all_the_time) {
  auto armed = traced_.arm(run(), 40);
  ASSERT_TRUE(armed) << armed.error().message();
  for (size_t round = 0; round < 8; ++round) {
    const size_t first = 4 + 2 * round;
    Plan both = pun(static_cast<uint32_t>(0x1000 * round));  // the old trampolines stay
    both.probe(both.add(plain().sites.front()));
    ASSERT_TRUE((*armed)->add(traced_.sites(both), traced_.probes(both, first)));
    worker_.wait_rounds(20);
    for (size_t probe : {first, first + 1}) ASSERT_TRUE((*armed)->remove(probe));
  }
  EXPECT_TRUE((*armed)->report().refused.empty());
  EXPECT_THAT(exact_hits(**armed, 4), ElementsAre(500, 500, 500, 500));
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
}

TEST_F(LiveChanges, leftovers_of_changes_are_cleaned_after_a_kill) {
  const pid_t blip = ::fork();
  if (blip == 0) {
    Traced other(worker_.pid());
    auto armed = other.arm(run(), 20);
    (void)(*armed)->add(other.sites(pun()), other.probes(pun(), 4));
    (void)(*armed)->add(other.sites(plain()), other.probes(plain(), 5));
    (void)(*armed)->remove(5);
    (void)(*armed)->add(other.sites(plain()), other.probes(plain(), 6));
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(blip, nullptr, 0);
  ASSERT_NE(traced_.text(), text_);
  auto cleaned = clean_leftovers(traced_.process_, traced_.memory_);
  ASSERT_TRUE(cleaned) << cleaned.error().message();
  expect_clean();
}

}  // namespace
}  // namespace blip::probe
