// SPDX-License-Identifier: MIT
#include "probe/arm/arming_stage.h"

#include <gtest/gtest.h>

#include <vector>

namespace blip::probe {
namespace {

using Stage = ArmingStage::Stage;

constexpr Stage kAll[] = {Stage::kPlanned, Stage::kMapped, Stage::kBuilt,
                          Stage::kTouched, Stage::kOpen,   Stage::kRemoved};

ArmingStage after(const std::vector<Stage>& stages) {
  ArmingStage stage;
  for (const Stage next : stages) stage.enter(next);
  return stage;
}

TEST(ArmingStage, says_what_has_to_be_taken_away_after_each_step) {
  struct Case {
    std::vector<Stage> steps;
    bool in_target, touched, open;
  };
  const Case cases[] = {
      {{}, false, false, false},
      {{Stage::kMapped}, true, false, false},
      {{Stage::kMapped, Stage::kBuilt}, true, false, false},
      {{Stage::kMapped, Stage::kBuilt, Stage::kTouched}, true, true, false},
      {{Stage::kMapped, Stage::kBuilt, Stage::kTouched, Stage::kOpen}, true, true, true},
      {{Stage::kMapped, Stage::kBuilt, Stage::kTouched, Stage::kOpen, Stage::kRemoved}, false, false, false},
      {{Stage::kMapped, Stage::kRemoved}, false, false, false},
  };
  for (const Case& c : cases) {
    const ArmingStage stage = after(c.steps);
    EXPECT_EQ(stage.is_in_target(), c.in_target) << c.steps.size();
    EXPECT_EQ(stage.is_touched(), c.touched) << c.steps.size();
    EXPECT_EQ(stage.is_open(), c.open) << c.steps.size();
  }
}

// Pads are made again for what is true of all threads, and a stop that finds somebody in the way moves nobody.
TEST(ArmingStage, pads_may_be_built_again_until_a_thread_may_be_in_them) {
  EXPECT_EQ(after({Stage::kMapped, Stage::kBuilt, Stage::kBuilt}).now(), Stage::kBuilt);
  EXPECT_EQ(after({Stage::kMapped, Stage::kBuilt, Stage::kTouched, Stage::kBuilt}).now(), Stage::kBuilt);
  EXPECT_FALSE(ArmingStage::may_follow(Stage::kBuilt, Stage::kOpen));
  EXPECT_FALSE(ArmingStage::may_follow(Stage::kBuilt, Stage::kPlanned)) << "there is no memory";
}

TEST(ArmingStage, the_gate_opens_only_when_all_is_built_and_threads_were_moved) {
  for (const Stage now : kAll)
    EXPECT_EQ(ArmingStage::may_follow(Stage::kOpen, now), now == Stage::kTouched) << static_cast<int>(now);
}

TEST(ArmingStage, nothing_comes_after_the_end) {
  for (const Stage next : kAll)
    EXPECT_EQ(ArmingStage::may_follow(next, Stage::kRemoved), next == Stage::kRemoved)
        << static_cast<int>(next);
}

TEST(ArmingStage, every_stage_can_be_left_for_good) {
  for (const Stage now : kAll) EXPECT_TRUE(ArmingStage::may_follow(Stage::kRemoved, now));
}

TEST(ArmingStageDeathTest, a_step_that_is_left_out_is_a_failed_check) {
  EXPECT_DEATH(after({Stage::kMapped, Stage::kOpen}), "may_follow");
}

}  // namespace
}  // namespace blip::probe
