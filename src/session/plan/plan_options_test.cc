// SPDX-License-Identifier: MIT
#include "session/plan/plan_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

TEST(PlanOptions, a_file_has_no_handlers_of_faults) {
  EXPECT_FALSE(plan_options_of_file(MovedFaults::kAuto).faults_matter);
  EXPECT_FALSE(plan_options_of_file(MovedFaults::kAccept).overflows_matter);
  EXPECT_TRUE(plan_options_of_file(MovedFaults::kRefuse).faults_matter);
  EXPECT_TRUE(plan_options_of_file(MovedFaults::kRefuse).overflows_matter);
}

// What this test itself catches.
TEST(PlanOptions, handlers_of_faults_matter_where_there_are_any) {
  const test::Sample sample;
  const auto of_self = [&](MovedFaults moved) { return *plan_options_of(::getpid(), sample.modules, moved); };
  const auto old_memory = std::signal(SIGBUS, SIG_DFL), old_overflow = std::signal(SIGFPE, [](int) {});
  const auto old_fault = std::signal(SIGSEGV, SIG_DFL);
  EXPECT_FALSE(of_self(MovedFaults::kAuto).faults_matter);
  EXPECT_TRUE(of_self(MovedFaults::kAuto).overflows_matter);
  EXPECT_TRUE(of_self(MovedFaults::kRefuse).faults_matter);
  std::signal(SIGBUS, [](int) {});
  EXPECT_TRUE(of_self(MovedFaults::kAuto).faults_matter);
  EXPECT_FALSE(of_self(MovedFaults::kAuto).accept_faults);
  EXPECT_TRUE(of_self(MovedFaults::kAccept).accept_faults);
  std::signal(SIGSEGV, old_fault);
  std::signal(SIGBUS, old_memory);
  std::signal(SIGFPE, old_overflow);
}

TEST(PlanOptions, a_process_that_has_gone) { EXPECT_FALSE(plan_options_of(-1, {}, MovedFaults::kAuto)); }

}  // namespace
}  // namespace blip::session
