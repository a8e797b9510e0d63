// SPDX-License-Identifier: MIT
#include "cli/view/view_filter.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

TraceTime time(const char* text) { return *TraceTime::parse(text); }

TEST(EventIsOf, a_function_with_all_that_is_its) {
  for (const char* name : {"f", "f:return", "f+0x1f", "f (inlined in g)", "ns::f", "ns::f:return", "f(int)",
                           "ns::A::f<int>(char) const", "ns::f(int) (inlined in main)"})
    EXPECT_TRUE(event_is_of(name, "f")) << name;
  for (const char* name : {"g", "ff", "g (inlined in f)", "xf", "f::g", "f:begin"})
    EXPECT_FALSE(event_is_of(name, "f")) << name;
}

TEST(EventIsOf, as_it_is_shown) {
  EXPECT_TRUE(event_is_of("f:return", "f:return"));
  EXPECT_FALSE(event_is_of("f", "f:return"));
  EXPECT_TRUE(event_is_of("f(int)", "f(int)"));
  EXPECT_FALSE(event_is_of("f(char)", "f(int)"));
  EXPECT_TRUE(event_is_of("shop::A::f(int)", "A::f(int)"));
  EXPECT_TRUE(event_is_of("f+0x12", "f+0x12"));
  EXPECT_TRUE(event_is_of("a.c:12", "a.c:12"));
  EXPECT_TRUE(event_is_of("operator+", "operator+"));
  EXPECT_TRUE(event_is_of("process:begin", "process:*"));
  EXPECT_TRUE(event_is_of("shop::handle:return", "shop::*"));
  EXPECT_FALSE(event_is_of("shop::handle", "hand*"));
}

TEST(ViewFilter, all_of_it_must_hold) {
  const ViewSelection selection{
      .functions = {"f", "g"}, .threads = {7, 8}, .from = time("10ns"), .to = time("20ns"), .head = {}};
  ViewFilter filter(selection);
  EXPECT_FALSE(filter.shows("f", 7, 100)) << "the begin of the trace";
  EXPECT_TRUE(filter.shows("f", 7, 110));
  EXPECT_FALSE(filter.shows("h", 7, 111));
  EXPECT_FALSE(filter.shows("g", 9, 112));
  EXPECT_FALSE(filter.shows("g", std::nullopt, 113));
  EXPECT_TRUE(filter.shows("g:return", 8, 120));
  EXPECT_FALSE(filter.stopped());
  EXPECT_FALSE(filter.shows("f", 7, 121));
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(totals_line(filter.totals()),
            "2 of the first 6 events shown; the rest is later (--to); 1 do not tell their thread (--no-tid)");
}

TEST(ViewFilter, head_counts_what_is_shown) {
  const ViewSelection selection{.functions = {"f"}, .threads = {}, .from = {}, .to = {}, .head = 2};
  ViewFilter filter(selection);
  EXPECT_FALSE(filter.shows("g", 7, 1));
  EXPECT_TRUE(filter.shows("f", 7, 2));
  EXPECT_FALSE(filter.stopped());
  EXPECT_TRUE(filter.shows("f", 7, std::nullopt));
  EXPECT_TRUE(filter.stopped());
  EXPECT_FALSE(filter.shows("f", 7, 4));
  EXPECT_EQ(totals_line(filter.totals()), "2 of the first 3 events shown; the rest was not read (--head)");
}

TEST(ViewFilter, before_the_end) {
  const ViewSelection selection{.functions = {}, .threads = {}, .from = time("-5ns"), .to = {}, .head = {}};
  EXPECT_TRUE(selection.needs_end());
  ViewFilter filter(selection);
  filter.know({100, 200});
  EXPECT_FALSE(filter.shows("f", 7, 194));
  EXPECT_TRUE(filter.shows("f", 7, 195));
  EXPECT_TRUE(filter.shows("f", 7, 200));
  EXPECT_FALSE(filter.overlaps(100, 190));
  EXPECT_TRUE(filter.overlaps(190, 196));
  EXPECT_EQ(totals_line(filter.totals()), "2 of 3 events shown");
}

}  // namespace
}  // namespace blip::cli
