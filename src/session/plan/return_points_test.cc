// SPDX-License-Identifier: MIT
#include "session/plan/return_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using Role = ProbePoint::Role;
using test::entry;
using test::returns;
using test::Sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ExpandedTargets expand(Sample& sample) {
  return expand_targets(sample.options, sample.targets(), sample.modules);
}
ExpandedTargets expand(std::vector<ProbeRequest> requests) {
  Sample sample(std::move(requests));
  return expand(sample);
}

std::vector<Role> roles(const ExpandedTargets& expanded) {
  std::vector<Role> all;
  for (const ProbePoint& p : expanded.points) all.push_back(p.role);
  return all;
}

TEST(ReturnPoints, a_function_and_its_exits) {
  EXPECT_THAT(roles(expand({entry("half")})), ElementsAre(Role::kHit));
  EXPECT_THAT(roles(expand({returns("half")})), ElementsAre(Role::kEnter, Role::kReturn));
  EXPECT_THAT(roles(expand({returns("passes_on")})), ElementsAre(Role::kEnter, Role::kTailJump));
  const auto both = expand({entry("half"), returns("half")});
  EXPECT_THAT(roles(both), ElementsAre(Role::kHit, Role::kEnter, Role::kReturn));
  EXPECT_EQ(both.points[0].target, 0u);
  EXPECT_EQ(both.points[2].target, 1u);
}

TEST(ReturnPoints, what_is_refused) {
  const auto never = expand({returns("gives_up"), returns("half")});
  EXPECT_THAT(never.refused, ElementsAre(HasSubstr("it never returns"), ""));
  EXPECT_THAT(roles(never), ElementsAre(Role::kEnter, Role::kReturn));
  Sample sample({returns("half"), entry("half")});
  sample.options.backend = Backend::kUprobe;
  const auto uprobes = expand(sample);
  EXPECT_THAT(uprobes.refused, ElementsAre(HasSubstr("omit --backend uprobe"), ""));
  EXPECT_THAT(roles(uprobes), ElementsAre(Role::kHit));
}

TEST(ReturnPoints, a_part_of_a_function_is_not_called) {
  Sample sample({returns("work")});
  std::vector<Target> targets = sample.targets();
  targets[0].point.function.is_cold = true;
  const auto expanded = expand_targets(sample.options, targets, sample.modules);
  EXPECT_THAT(expanded.refused, ElementsAre(HasSubstr("it is no function that is called")));
  EXPECT_THAT(expanded.points, IsEmpty());
}

// ret, its address, whether it is a tail jump.
jit::Action of_return() {
  jit::Action action{.class_id = 5};
  action.fields = {{.capture = jit::Capture::kRegister, .is_result = true},
                   {.capture = jit::Capture::kConstant, .value = 1},
                   {.capture = jit::Capture::kShortConstant, .value = 9}};
  return action;
}

TEST(ReturnPoints, actions_at_the_points_of_a_function) {
  constexpr uint64_t kIp = 0x1234;
  script::HitProgram kept;
  kept.outputs.resize(2);
  const auto at = [&](Role role, bool is_conditional = false) {
    return action_at({.role = role, .is_conditional = is_conditional}, of_return(), kept, kIp);
  };
  EXPECT_FALSE(at(Role::kHit).is_return);
  EXPECT_EQ(at(Role::kHit).fields[1].value, 1u);

  const jit::Action enter = at(Role::kEnter);
  EXPECT_EQ(enter.effect, jit::Effect::kEnter);
  EXPECT_EQ(enter.frame_id, 5u);
  EXPECT_EQ(enter.hit.outputs.size(), 2u);

  const jit::Action leave = at(Role::kReturn, true);
  EXPECT_TRUE(leave.is_return && leave.is_conditional && !leave.is_tail);
  EXPECT_EQ(leave.kept, 2u);
  EXPECT_EQ(leave.stack_at, 0u) << "nobody asks for stacks";
  EXPECT_EQ(leave.fields[0].capture, jit::Capture::kRegister);
  EXPECT_EQ(leave.fields[1].value, kIp);
  EXPECT_EQ(leave.fields[2].value, 0u);

  const jit::Action tail = at(Role::kTailJump);
  EXPECT_TRUE(tail.is_return && tail.is_tail);
  EXPECT_EQ(tail.fields[0].capture, jit::Capture::kConstant) << "there is no result yet";
  EXPECT_EQ(tail.fields[0].value, 0u);
  EXPECT_EQ(tail.fields[2].value, 1u);
}

TEST(ReturnPoints, stacks_are_those_of_the_exit) {
  jit::Action action = of_return();
  action.stack_at = 1;
  EXPECT_EQ(action_at({.role = Role::kReturn}, action, {}, 0x1234).stack_at, 0x1234u);
}

// A tail jump may lead anywhere, so it has to be looked at there whether there is a result.
TEST(ReturnPoints, a_return_has_its_result_for_certain) {
  using script::Op;
  jit::Action action;
  script::Code& code = action.hit.code;
  const uint32_t result = code.add({.op = Op::kResult});
  const uint32_t returned = code.add({.op = Op::kReturned, .a = result});
  const uint32_t negative = code.add({.op = Op::kNeg, .a = returned});
  action.hit.condition = returned;
  action.hit.outputs = {{.node = negative},
                        {.kind = script::Output::Kind::kSequence, .node = returned, .length = returned}};
  const script::HitProgram leave = action_at({.role = Role::kReturn}, action, {}, 0).hit;
  EXPECT_EQ(leave.condition, result);
  EXPECT_EQ(leave.code.nodes[negative].a, result);
  EXPECT_EQ(leave.outputs[0].node, negative);
  EXPECT_EQ(leave.outputs[1].node, result);
  EXPECT_EQ(leave.outputs[1].length, result);
  EXPECT_EQ(action_at({.role = Role::kTailJump}, action, {}, 0).hit.condition, returned);
}

TEST(ReturnPoints, latencies_learn_the_rate_of_the_clock) {
  probe::Probe probe;
  probe.action.hit.code.add({.op = script::Op::kDepth});
  probe.action.hit.code.add({.op = script::Op::kLatency});
  tell_rate({&probe, 1}, 77);
  EXPECT_EQ(probe.action.hit.code.nodes[0].value, 0u);
  EXPECT_EQ(probe.action.hit.code.nodes[1].value, 77u);
}

}  // namespace
}  // namespace blip::session
