// SPDX-License-Identifier: MIT
#include "session/live_show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <vector>

namespace blip::session {
namespace {

using testing::ElementsAre;

Options of_one_function() {
  Options options;
  options.mode = Mode::kTrace;
  options.probes.push_back({*elf::parse_spec("f")});
  return options;
}

// A show of a trace without processes: tests add events to the merge.
struct Shown {
  explicit Shown(uint64_t most = UINT64_MAX) {
    context.limit.most = most;
    const ProbedPlace place{.name = "f", .module = "m", .addr = FileAddr(1), .ip = 0x1000};
    EXPECT_TRUE(context.classes.add(std::span(&place, 1)));
    show.emplace([this](const EventView& event) { times.push_back(event.time_ns); },
                 [this] { return times.size() >= room; }, context, live);
    source.emplace(show->merge());
  }

  void add(uint64_t time_ns) {
    const std::vector<uint8_t> record(context.classes.classes().front().record_size);
    source->add(time_ns, abi::kFirstClass, record.data(), static_cast<uint32_t>(record.size()));
  }

  const Options options = of_one_function();
  StopRequest stop;
  TraceContext context{options, stop};
  const Roster::Processes live;
  std::vector<uint64_t> times;
  size_t room = SIZE_MAX;
  std::optional<LiveShow> show;
  std::optional<LiveSource> source;
};

TEST(LiveShow, shows_what_is_complete_in_the_order_of_time) {
  Shown s;
  for (const uint64_t time : {30, 10, 20}) s.add(time);
  s.source->complete(20);
  s.show->show();
  EXPECT_THAT(s.times, ElementsAre(10, 20));
  s.source.reset();
  s.show->show_rest();
  EXPECT_THAT(s.times, ElementsAre(10, 20, 30));
}

TEST(LiveShow, shows_no_more_than_the_trace_may_hold) {
  Shown s(2);
  for (const uint64_t time : {10, 20, 30}) s.add(time);
  s.source->complete(10);
  s.show->show();
  s.source.reset();
  EXPECT_EQ(s.show->show_rest(), 2U) << "also those that were shown before";
  EXPECT_THAT(s.times, ElementsAre(10, 20));
}

TEST(LiveShow, keeps_what_the_sink_cannot_take) {
  Shown s;
  s.room = 1;
  for (const uint64_t time : {10, 20, 30}) s.add(time);
  s.source->complete(40);
  s.show->show();
  EXPECT_TRUE(s.show->is_held_up());
  EXPECT_EQ(s.show->held_up(), 2U);
  EXPECT_THAT(s.times, ElementsAre(10));
  s.room = SIZE_MAX;
  s.show->show();
  EXPECT_FALSE(s.show->is_held_up());
  EXPECT_EQ(s.show->held_up(), 0U);
  EXPECT_THAT(s.times, ElementsAre(10, 20, 30));
}

}  // namespace
}  // namespace blip::session
