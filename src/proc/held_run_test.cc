// SPDX-License-Identifier: MIT
#include "proc/held_run.h"

#include <gtest/gtest.h>

#include "proc/test_command.h"

namespace blip::proc {
namespace {

TEST(HeldRun, single_steps_where_there_is_no_debug_register) {
  const std::string path = std::string(BLIP_TEST_TARGET_DIR) + "/spawned_musl";  // its loader makes few steps
  if (::access(path.c_str(), X_OK) != 0) GTEST_SKIP() << path << " is not built (e2e_targets, musl-tools)";
  auto command = Command::start({path, "1", "6"});
  ASSERT_TRUE(command) << command.error().message();
  const uint64_t entry = test::auxv(command->pid(), AT_ENTRY);
  const Status held = on_tracer_thread([&]() -> Status {
    TRY(HeldRun run, HeldRun::begin(command->pid()));
    run.step_always();
    TRY_OK(run.break_at(TargetAddr(entry)));
    TRY(const StopEvent event, run.resume());
    EXPECT_EQ(event.kind, StopKind::kInterrupt);
    return run.hold();
  });
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_EQ(test::pc_of(command->pid()), entry);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(WEXITSTATUS(command->wait()), 6);
}

TEST(HeldRun, a_continued_child_is_held_again) {
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command);
  const uint64_t entry = test::auxv(command->pid(), AT_ENTRY);
  const Status held = on_tracer_thread([&]() -> Status {
    TRY(HeldRun run, HeldRun::begin(command->pid()));
    TRY_OK(run.break_at(TargetAddr(entry)));
    TRY_OK(run.resume());
    command->send(SIGCONT);
    return run.hold();
  });
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_EQ(test::pc_of(command->pid()), entry);
}

TEST(HeldRun, a_child_not_brought_to_a_hold_is_killed) {
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command);
  on_tracer_thread([&] { return HeldRun::begin(command->pid()).has_value(); });
  EXPECT_EQ(WTERMSIG(command->wait()), SIGKILL);
}

TEST(HeldRun, traps_of_the_program_itself_reach_it) {
  auto command = Command::start({"sh", "-c", "kill -TRAP $$"});
  ASSERT_TRUE(command);
  const auto end = command->run_to(TargetAddr(0x1000), []() -> Result<bool> { return true; });
  EXPECT_EQ(*end, Command::RunEnd::kEnded);
  EXPECT_EQ(WTERMSIG(command->wait()), SIGTRAP);
}

}  // namespace
}  // namespace blip::proc
