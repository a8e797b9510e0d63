// SPDX-License-Identifier: MIT
#include "session/plan/probe_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/stubs.h"
#include "script/names.h"
#include "session/plan/plan_options.h"
#include "session/plan/test_sample.h"
#include "session/watch/life_record.h"

namespace blip::session {
namespace {

using test::entry;
using test::returns;
using test::Sample;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Up to where pads are planned.
ProbePlan expanded(Sample& sample) {
  ProbePlan plan;
  plan.modules = sample.modules;
  plan.targets = sample.targets();
  plan.expand(sample.options);
  return plan;
}

void plan_pads(Sample& sample, ProbePlan& plan) {
  plan.plan_pads(sample.options, plan_options_of_file(MovedFaults::kAuto), {});
}

// With actions.
ProbePlan planned(Sample& sample, ClassTable& table) {
  ProbePlan plan = expanded(sample);
  EXPECT_TRUE(plan.find_data(sample.options, sample.debug));
  plan.share_calls(sample.options);
  plan_pads(sample, plan);
  const auto actions = table.add(plan.places(sample.options));
  EXPECT_TRUE(actions);
  if (actions) plan.set_actions(*actions, 10);
  return plan;
}

TEST(ProbePlan, from_requests_to_actions) {
  Sample sample({entry("work", {.args = true}), returns("half")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  EXPECT_THAT(plan.refusals, ElementsAre("", ""));
  EXPECT_FALSE(plan.nothing_can_be_armed());
  ASSERT_THAT(plan.probes, SizeIs(3));
  using jit::Effect;
  const Effect effects[] = {Effect::kRecord, Effect::kEnter, Effect::kRecord};
  const size_t groups[] = {probe::Probe::kAlone, 11, 11};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(plan.probes[i].planned.refused()) << plan.probes[i].planned.refusal;
    EXPECT_EQ(plan.probes[i].action.effect, effects[i]) << i;
    EXPECT_EQ(plan.probes[i].group, groups[i]) << i;
    EXPECT_EQ(plan.probes[i].action.call, jit::Action::kOwnCall);
  }
  EXPECT_THAT(plan.planned, IsEmpty());
  EXPECT_THAT(plan.hand_over(), SizeIs(3));
  EXPECT_THAT(plan.probes, IsEmpty());
  EXPECT_EQ(plan.handed_over[0].class_id, table.classes()[0].id);
  EXPECT_FALSE(plan.handed_over[0].is_trap);
  EXPECT_THAT(plan.place_names(table.classes()), IsEmpty());
}

TEST(ProbePlan, a_program_that_reads_through_pointers_reads_far) {
  Sample sample({entry("work", {.captures = {"pair->first"}}), entry("half")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  plan.hand_over();
  EXPECT_TRUE(plan.handed_over[0].reads_far);
  EXPECT_FALSE(plan.handed_over[1].reads_far);
}

TEST(ProbePlan, returns_of_one_function_share_their_calls) {
  Sample sample(
      {returns("work", {.captures = {"entry(n)"}}), returns("work", {.captures = {"entry(s), $return"}})});
  ClassTable table(sample.options);
  const ProbePlan plan = planned(sample, table);
  ASSERT_THAT(plan.probes, SizeIs(4));
  for (const probe::Probe& probe : plan.probes) {
    EXPECT_EQ(probe.action.call, 10u);
    EXPECT_EQ(probe.action.frame_id, table.classes()[0].id);
  }
  EXPECT_EQ(plan.probes[0].action.hit.outputs.size(), 2u) << "the entry keeps both";
  EXPECT_EQ(plan.frame_classes.at(table.classes()[1].id), table.classes()[0].id);
  std::vector<uint64_t> kept;
  for (const script::Node& node : plan.probes[3].action.hit.code.nodes)
    if (node.op == script::Op::kEntryValue) kept.push_back(node.value);
  EXPECT_THAT(kept, Each(1u));
}

TEST(ProbePlan, a_call_is_probed_as_a_whole_or_not_at_all) {
  Sample sample({returns("half"), entry("work")});
  ProbePlan plan = expanded(sample);
  ASSERT_THAT(plan.points, SizeIs(3));
  plan.points[1].point.addr = plan.points[0].point.addr + 1;  // no instruction
  plan_pads(sample, plan);
  EXPECT_THAT(plan.refusals, ElementsAre(HasSubstr("its exit at "), ""));
  EXPECT_THAT(plan.points, SizeIs(1)) << "the entry was planned for nothing";
}

TEST(ProbePlan, what_is_refused_alone_stays_in_the_plan) {
  Sample sample({entry("half"), entry("work")});
  ProbePlan plan = expanded(sample);
  plan.points[0].point.addr = plan.points[0].point.addr + 1;
  plan_pads(sample, plan);
  EXPECT_THAT(plan.refusals, ElementsAre(Not(""), ""));
  EXPECT_TRUE(plan.planned[0].refused());
  EXPECT_FALSE(plan.planned[1].refused());
}

TEST(ProbePlan, uprobes_need_no_room_for_a_jump) {
  Sample sample({entry("half"), entry("work")});
  ProbePlan plan = expanded(sample);
  plan.points[0].point.function.is_ifunc = true;
  plan.plan_uprobes();
  EXPECT_THAT(plan.refusals, ElementsAre(HasSubstr("an IFUNC"), ""));
  EXPECT_FALSE(plan.planned[1].refused());
}

// The error, or the refusals of the targets and the remarks.
std::vector<std::string> outcome_of_data(std::vector<ProbeRequest> requests) {
  Sample sample(std::move(requests));
  ProbePlan plan = expanded(sample);
  const Status status = plan.find_data(sample.options, sample.debug);
  if (!status) return {status.error().message()};
  for (const ProbePoint& p : plan.points) EXPECT_EQ(plan.refusals[p.target], "");
  std::vector<std::string> all = plan.refusals;
  all.insert(all.end(), plan.remarks.begin(), plan.remarks.end());
  return all;
}

TEST(ProbePlan, targets_without_the_data_are_refused) {
  const DataRequest no_such{.captures = {"no_such"}}, result{.captures = {"$return"}};
  const struct {
    const char* what;
    std::vector<ProbeRequest> requests;
    testing::Matcher<const std::vector<std::string>&> expected;
  } cases[] = {
      {"nobody asks", {entry("work")}, ElementsAre("")},
      {"all have it", {entry("work", {.args = true}), entry("half")}, ElementsAre("", "")},
      {"the only request", {entry("work", no_such)}, ElementsAre(testing::StartsWith("--capture"))},
      {"one of several", {entry("work", no_such), entry("half")}, ElementsAre(testing::StartsWith("work: "))},
      {"one of its targets", {entry("*:work", {.captures = {"pair->first"}})}, ElementsAre("", Not(""))},
      {"what returns nothing alone",
       {returns("nothing", result)},
       ElementsAre(HasSubstr(std::string(script::kReturnsNothing)))},
      {"what returns nothing among others",
       {returns("nothing", result), returns("work", result)},
       ElementsAre(Not(""), "", testing::StartsWith("nothing is not probed"))},
  };
  for (const auto& c : cases) EXPECT_THAT(outcome_of_data(c.requests), c.expected) << c.what;
}

TEST(ProbePlan, instructions_of_a_function_have_one_name_together) {
  Sample sample({test::every_instruction("half"), entry("work")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  const auto names = plan.place_names(table.classes());
  const uint64_t begin = test::kProgramBias + dwarf::address_of(test::program_image(), "half").value;
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_EQ(names[0].name, "half");
  EXPECT_EQ(names[0].begin, begin);
  EXPECT_GT(names[0].size, 1u);
  for (const ProbedPlace& place : plan.places(sample.options))
    EXPECT_EQ(place.name, place.request == 0 ? "" : "work") << "making a million names takes a second";
}

TEST(ProbePlan, functions_that_share_a_class_are_named_each) {
  Sample sample({entry("half"), returns("work")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  std::vector<ctf::EventClass> classes = table.classes();
  for (ctf::EventClass& c : classes) c.many_places = true;
  std::vector<std::string> names;
  for (const PlaceName& name : plan.place_names(classes)) names.push_back(name.name);
  EXPECT_EQ(names.front(), "half");
  EXPECT_THAT(std::vector(names.begin() + 1, names.end()), Each("work:return"));
}

TEST(ProbePlan, says_why_nothing_can_be_armed) {
  Sample sample({entry("half"), entry("work"), entry("passes_on"), entry("nothing"), entry("calls_twice")});
  ProbePlan plan = expanded(sample);
  for (std::string& refusal : plan.refusals) refusal = "so";
  EXPECT_TRUE(plan.nothing_can_be_armed());
  EXPECT_EQ(plan.all_refused().message(),
            "nothing can be armed: half: so; work: so; passes_on: so; nothing: so; calls_twice: so");
  plan.refused = {{"copy", "why"}};
  EXPECT_EQ(plan.all_refused().message(),
            "nothing can be armed: copy: why; half: so; work: so; passes_on: so; nothing: so; and 1 more");
}

TEST(ProbePlan, refusals_that_come_later_are_of_the_probes_of_the_process) {
  Sample sample({entry("half"), returns("work")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  plan.first = 100;
  EXPECT_THAT(plan.refusals_after({{3, "of another plan"}, {101, "a"}, {102, "b"}, {999, "later"}}),
              ElementsAre("", "a"));
}

TEST(ProbePlan, targets_whose_instructions_were_moved_although_they_may_fault) {
  Sample sample({returns("work"), entry("half")});
  ClassTable table(sample.options);
  ProbePlan plan = planned(sample, table);
  for (probe::Probe& probe : plan.probes) probe.planned.moves_fault = true;
  plan.hand_over();
  EXPECT_EQ(plan.moved_faults({"", ""}), 2u);
  EXPECT_EQ(plan.moved_faults({"", "refused"}), 1u);
  EXPECT_THAT(moved_faults_text(1), testing::StartsWith("1 probe has moved"));
  EXPECT_THAT(moved_faults_text(2), testing::StartsWith("2 probes have moved"));
}

TEST(ProbePlan, probes_of_blip_itself_are_not_among_the_others) {
  Sample sample({entry("half")});
  ProbePlan plan = expanded(sample);
  const auto at = [](const char* name) {
    return probe::Point{.addr = dwarf::address_of(test::library_image(), name), .is_entry = true};
  };
  plan.loader =
      probe::LoaderHook{.module = 1, .function = {.name = "work", .addr = at("work").addr, .size = 1}};
  const uint32_t numbers[] = {probe::kExitNumber, probe::kExitGroupNumber, probe::kExecveNumber};
  for (const uint32_t number : numbers)
    plan.lives.push_back({.module = 1, .number = number, .point = at("other")});
  plan.life_class = 50;
  plan_pads(sample, plan);
  EXPECT_THAT(plan.planned, SizeIs(1));
  EXPECT_EQ(plan.loader_probe.module, 1u);
  EXPECT_EQ(plan.loader_probe.action.effect, jit::Effect::kTellLibraries);
  ASSERT_THAT(plan.life_probes, SizeIs(3));
  const uint32_t kinds[] = {LifeRecord::kExit, LifeRecord::kExitGroup, LifeRecord::kExec};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.life_probes[i].action.class_id, 50 + kinds[i]);
    EXPECT_EQ(plan.life_probes[i].action.record_size, jit::kLifeSize);
  }
}

}  // namespace
}  // namespace blip::session
