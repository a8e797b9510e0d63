// SPDX-License-Identifier: MIT
#include "session/watch/lives.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "jit/stubs.h"

namespace blip::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr pid_t kRoot = 10;
constexpr uint64_t kMs = 1'000'000;
constexpr const char* kNames[] = {"begin", "fork", "exec", "end", "thread", "thread end", "load", "unload"};

class LivesTest : public testing::Test {
 protected:
  LivesTest() {
    lives_.begin(
        {{kRoot, kRoot}, true, {.begun = {{kRoot, "main"}}, .ended = {}, .loaded = {}, .unloaded = {}}});
  }

  void hear(uint64_t ms, LifeRecord::Kind kind, int32_t vpid, int32_t vtid, int64_t value = 0) {
    lives_.hear(
        {.time_ns = ms * kMs, .kind = kind, .root = kRoot, .vpid = vpid, .vtid = vtid, .value = value});
  }
  LifeLook look(uint64_t ms) { return {.begin_ns = ms * kMs, .time_ns = ms * kMs}; }
  void see(LifeLook look) { lives_.see(std::move(look)); }
  static LifeLook::Changes begun(pid_t pid, int32_t vtid) {
    LifeLook::Changes changes{.pid = pid, .what = {}};
    changes.what.begun.push_back({vtid, "t"});
    return changes;
  }
  static LifeLook::Changes ended(pid_t pid, int32_t vtid) {
    LifeLook::Changes changes{.pid = pid, .what = {}};
    changes.what.ended.push_back({vtid, "t"});
    return changes;
  }
  // "MS WHAT TID", and what else there is to tell.
  std::vector<std::string> told(std::vector<LifeEvent> events) {
    std::vector<std::string> all;
    for (const LifeEvent& e : events) {
      all.push_back(fmt::format("{} {} {}", e.time_ns / kMs, kNames[e.kind], e.vtid));
      if (e.kind == LifeEvent::kFork) all.back() += fmt::format(" of {}", e.parent);
      if (e.kind == LifeEvent::kProcessEnd) all.back() += fmt::format(" {} {}", e.status, e.signal);
    }
    return all;
  }
  std::vector<std::string> settle(uint64_t ms) { return told(lives_.settle(ms * kMs)); }
  void skip_begin() { (void)settle(1); }

  Lives lives_{{.comm = [](pid_t, pid_t) { return std::string(); },
                .path = [](pid_t) { return std::string(); },
                .has_its_first_program = [](pid_t) { return false; },
                .parent = [](pid_t) { return kRoot; }},
               true,
               kMs};
};

TEST_F(LivesTest, what_is_there_begins_with_the_trace) {
  EXPECT_THAT(settle(2), ElementsAre("1 begin 10", "1 thread 10"));
}

TEST_F(LivesTest, records_are_told_with_their_times_once_a_look_has_passed) {
  skip_begin();
  hear(5, LifeRecord::kThread, kRoot, 11);
  hear(7, LifeRecord::kExit, kRoot, 11);
  EXPECT_THAT(settle(8), IsEmpty());
  see(look(20));
  EXPECT_THAT(settle(30), ElementsAre("5 thread 11", "7 thread end 11"));
}

TEST_F(LivesTest, a_thread_that_is_seen_and_heard_is_told_once_by_its_record) {
  skip_begin();
  LifeLook first = look(20);
  first.changes.push_back(begun(kRoot, 11));
  see(first);
  EXPECT_THAT(settle(21), IsEmpty());
  hear(22, LifeRecord::kThread, kRoot, 11);
  see(look(40));
  EXPECT_THAT(settle(41), ElementsAre("22 thread 11"));
}

TEST_F(LivesTest, a_thread_that_says_nothing_is_told_by_looks) {
  skip_begin();
  LifeLook first = look(20);
  first.changes.push_back(begun(kRoot, 11));
  see(first);
  see(look(100));
  EXPECT_THAT(settle(110), IsEmpty());
  LifeLook last = look(130);
  last.changes.push_back(ended(kRoot, 11));
  see(last);
  EXPECT_THAT(settle(140), ElementsAre("1 thread 11", "130 thread end 11"));
}

TEST_F(LivesTest, a_thread_that_ends_is_not_told_again_when_it_is_still_seen) {
  skip_begin();
  hear(5, LifeRecord::kThread, kRoot, 11);
  hear(6, LifeRecord::kExit, kRoot, 11);
  LifeLook first = look(20), second = look(40);
  first.changes.push_back(begun(kRoot, 11));
  second.changes.push_back(ended(kRoot, 11));
  see(first);
  see(second);
  EXPECT_THAT(settle(50), ElementsAre("5 thread 11", "6 thread end 11"));
  EXPECT_THAT(told(lives_.finish()), IsEmpty());
}

TEST_F(LivesTest, a_child_nobody_could_look_at_has_parent_and_status) {
  skip_begin();
  hear(5, LifeRecord::kProcess, 12, 12, kRoot);
  hear(6, LifeRecord::kExitGroup, 12, 12, 7);
  LifeLook first = look(20);
  first.lost = {12};
  first.heard_of = {{kRoot, 12}};
  see(first);
  EXPECT_THAT(settle(21), ElementsAre("5 fork 12 of 10", "5 thread 12", "6 thread end 12", "6 end 12 7 0"));
}

TEST_F(LivesTest, a_child_of_vfork_ends_and_not_its_parent) {
  skip_begin();
  hear(5, LifeRecord::kProcess, kRoot, 12, jit::kSharesMemory);
  hear(6, LifeRecord::kExec, kRoot, 12);
  hear(7, LifeRecord::kExitGroup, kRoot, 12, 127);
  see(look(20));
  EXPECT_THAT(settle(21), ElementsAre("5 fork 12 of 10", "5 thread 12", "7 thread end 12", "7 end 12 127 0"));
}

TEST_F(LivesTest, a_program_that_came_and_went_unseen) {
  skip_begin();
  hear(5, LifeRecord::kProcess, kRoot, 12, jit::kSharesMemory);
  hear(6, LifeRecord::kExec, kRoot, 12);
  LifeLook first = look(20);
  first.lost = {12};
  see(first);
  EXPECT_THAT(settle(21), ElementsAre("5 fork 12 of 10", "5 thread 12", "6 exec 12", "20 thread end 12",
                                      "20 end 12 -1 -1"));
}

TEST_F(LivesTest, threads_that_are_killed_with_the_process_end_when_it_is_seen) {
  skip_begin();
  hear(5, LifeRecord::kThread, kRoot, 11);
  hear(6, LifeRecord::kExitGroup, kRoot, 11, 3);
  LifeLook first = look(20);
  first.news.died.push_back({{kRoot, kRoot}, 3 << 8});
  see(first);
  EXPECT_THAT(settle(21), ElementsAre("5 thread 11", "6 thread end 11", "20 thread end 10", "20 end 10 3 0"));
}

TEST_F(LivesTest, exec_ends_the_other_threads) {
  skip_begin();
  hear(5, LifeRecord::kThread, kRoot, 11);
  hear(6, LifeRecord::kExec, kRoot, 11);
  LifeLook first = look(20);
  first.news.executed.push_back({kRoot, kRoot});
  see(first);
  EXPECT_THAT(settle(21), ElementsAre("5 thread 11", "6 thread end 11", "6 exec 10"));
}

TEST_F(LivesTest, a_number_that_is_used_again_is_another_process) {
  skip_begin();
  hear(5, LifeRecord::kProcess, 12, 12, kRoot);
  hear(8, LifeRecord::kProcess, 12, 12, kRoot);
  see(look(20));
  EXPECT_THAT(settle(21), ElementsAre("5 fork 12 of 10", "5 thread 12", "8 thread end 12", "8 end 12 -1 -1",
                                      "8 fork 12 of 10", "8 thread 12"));
}

TEST_F(LivesTest, a_child_that_is_seen_but_announces_nothing) {
  skip_begin();
  LifeLook first = look(20), second = look(130);
  first.news.born.push_back({{12, 12}, {kRoot, kRoot}});
  second.news.died.push_back({{12, 12}, 0});
  see(first);
  see(second);
  EXPECT_THAT(settle(131),
              ElementsAre("1 fork 12 of 10", "1 thread 12", "130 thread end 12", "130 end 12 0 0"));
}

TEST_F(LivesTest, a_new_program_gets_pads_of_its_own) {
  skip_begin();
  hear(5, LifeRecord::kProcess, 12, 12, kRoot);
  hear(6, LifeRecord::kExec, 12, 12);
  lives_.hear({.time_ns = 15 * kMs, .kind = LifeRecord::kThread, .root = 12, .vpid = 12, .vtid = 13});
  LifeLook first = look(20);
  first.news.executed.push_back({12, 12});
  first.begun.push_back({{12, 12}, true, {}});
  see(first);
  EXPECT_THAT(settle(18), IsEmpty());
  see(look(30));
  EXPECT_THAT(settle(31), ElementsAre("5 fork 12 of 10", "5 thread 12", "6 exec 12", "15 thread 13"));
}

}  // namespace
}  // namespace blip::session
