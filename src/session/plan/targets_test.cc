// SPDX-License-Identifier: MIT
#include "session/plan/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using test::entry;
using test::every_instruction;
using test::returns;
using test::Sample;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Names = std::vector<std::string>;

ProbeRequest instruction(std::string_view spec) { return test::request(ProbeKind::kInstruction, spec); }

TEST(Targets, names_of_what_requests_mean) {
  const struct {
    std::vector<ProbeRequest> requests;
    testing::Matcher<const Names&> expected;
  } cases[] = {
      {{entry("work")}, ElementsAre("work")},  // the library's is meant only by its module's name
      {{entry("libother.so:work")}, ElementsAre("work")},
      {{entry("other")}, ElementsAre("other")},
      {{entry("*:work")}, ElementsAre("work", "work")},
      {{entry("passes_on"), entry("half")}, ElementsAre("passes_on", "half")},
      {{returns("work")}, ElementsAre("work:return")},
      {{entry("shop::price")}, ElementsAre("shop::price(int)", "shop::price(double)")},
      {{returns("price")}, ElementsAre("shop::price(int):return", "shop::price(double):return")},
      {{entry("twice")}, Contains("twice (inlined in calls_twice)")},
      {{entry("sample:twice")}, Contains("twice (inlined in calls_twice)")},
      {{entry("libother.so:twice")}, ElementsAre(HasSubstr("twice"))},
      {{entry("thrice")}, ElementsAre("thrice (inlined in calls_thrice)", "thrice")},
      {{returns("twice")}, ElementsAre(HasSubstr("twice: it is inlined wherever it is called"))},
      {{returns("no_such")}, ElementsAre(HasSubstr("no_such"))},
      {{instruction("work")}, ElementsAre("work")},
      {{instruction("work+0xffff")}, ElementsAre(HasSubstr("past the end of work"))},
      {{every_instruction("nothing")}, ElementsAre("nothing+0x0", HasSubstr("nothing+0x"))},
      {{every_instruction("shop::price")}, Contains("shop::price(double)+0x0")},
      {{every_instruction("no_such")}, ElementsAre(HasSubstr("no_such"))},
      {{test::source_line("sample.cc", test::line_of("line: sum"))},
       Each("sample.cc:" + std::to_string(test::line_of("line: sum")))},
      {{test::source_line("sample.cc", 1)}, ElementsAre(HasSubstr("no code comes from that line"))},
  };
  for (const auto& c : cases) EXPECT_THAT(Sample(c.requests).names(), c.expected);
}

TEST(Targets, inlined_copies_are_left_out_if_they_are_not_wanted) {
  Sample sample({entry("twice")});
  sample.options.no_inline = true;
  EXPECT_THAT(sample.names(), ElementsAre(HasSubstr("twice")));
  sample.options.probes = {entry("thrice")};
  EXPECT_THAT(sample.names(), ElementsAre("thrice"));
  sample.options.probes = {returns("twice")};
  EXPECT_THAT(sample.names(), ElementsAre(testing::Not(HasSubstr("inlined"))));
}

TEST(Targets, what_matches_nothing_is_left_out_if_a_part_will_do) {
  constexpr bool kPartWillDo = true;
  for (const ProbeRequest& missing :
       {entry("no_such"), returns("no_such"), instruction("no_such+1"), every_instruction("no_such"),
        test::source_line("no_such.c", 1), returns("twice")}) {
    EXPECT_THAT(Sample({missing}).names(kPartWillDo), IsEmpty()) << missing.spec.text;
    EXPECT_THAT(Sample({missing, entry("half")}).names(kPartWillDo), ElementsAre("half"));
    EXPECT_FALSE(Sample({missing, entry("half")}).find()) << missing.spec.text;
  }
}

TEST(Targets, only_requests_that_count_are_looked_for) {
  EXPECT_THAT(Sample({entry("no_such"), returns("half"), instruction("work+0xffff"),
                      test::source_line("no_such.c", 1)})
                  .names(false, {false, true, false, false}),
              ElementsAre("half:return"));
}

TEST(Targets, notes_say_that_copies_have_no_return) {
  Sample sample({returns("thrice")});
  EXPECT_THAT(sample.find()->notes, IsEmpty());
  sample.options.verbose = true;
  EXPECT_THAT(sample.find()->notes, ElementsAre("thrice: 1 inlined copy has no return, and is not probed"));
  sample.options.probes = {returns("work")};
  EXPECT_THAT(sample.find()->notes, IsEmpty());
}

TEST(Targets, a_function_that_several_patterns_mean_is_probed_once_if_they_want_the_same) {
  const auto with_cpu = [](ProbeRequest request) {
    request.contexts = {{&contexts::kCpu}};
    return request;
  };
  const auto filtered = entry("work", {.condition = "n > 1"});
  const struct {
    const char* what;
    Mode mode;
    std::vector<ProbeRequest> requests;
    size_t expected;
  } cases[] = {
      {"the same", Mode::kRecord, {entry("work"), entry("wor?")}, 1},
      {"its entry and its returns", Mode::kRecord, {entry("work"), returns("work")}, 2},
      {"other contexts", Mode::kRecord, {entry("work"), with_cpu(entry("work"))}, 2},
      {"a count shows no context", Mode::kCount, {entry("work"), with_cpu(entry("work"))}, 1},
      {"a count depends on filters", Mode::kCount, {entry("work"), filtered}, 2},
      {"returns", Mode::kRecord, {returns("work"), returns("wor?")}, 1},
      {"instructions, each as often as it is asked for",
       Mode::kRecord,
       {instruction("work"), instruction("work")},
       2},
  };
  for (const auto& c : cases) {
    Sample sample(c.requests);
    sample.options.mode = c.mode;
    EXPECT_THAT(sample.names(), SizeIs(c.expected)) << c.what;
  }
}

TEST(Targets, many_names_are_found_like_few) {
  std::vector<ProbeRequest> requests(20, entry("work"));
  for (size_t i = 0; i < requests.size(); ++i) requests[i].contexts.assign(i, {&contexts::kCpu});
  requests[7] = returns("half");
  const Names names = Sample(requests).names();
  ASSERT_THAT(names, SizeIs(20));
  EXPECT_EQ(names[6], "work");
  EXPECT_EQ(names[7], "half:return");
}

TEST(Targets, latencies_are_named_after_their_functions) {
  Sample sample({returns("work")});
  sample.options.mode = Mode::kCount;
  sample.options.latencies = true;
  EXPECT_THAT(sample.names(), ElementsAre("work"));
}

TEST(Targets, a_pattern_means_no_inlined_copies) {
  EXPECT_THAT(Sample({entry("calls_t*")}).names(), UnorderedElementsAre("calls_twice", "calls_thrice"));
}

TEST(Targets, every_instruction_of_a_program_may_be_too_many) {
  Sample sample({every_instruction("*")});
  const auto all = sample.find();
  ASSERT_TRUE(all);
  EXPECT_GT(all->targets.size(), 50u);
  EXPECT_THAT(sample.names(), Contains(HasSubstr("work+0x")));
}

}  // namespace
}  // namespace blip::session
