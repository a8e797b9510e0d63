// SPDX-License-Identifier: MIT
// Calls and their returns, run for real: in this process, with pads as a target gets them.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <set>
#include <thread>

#include "jit/test_calls.h"
#include "jit/test_stepper.h"

namespace blip::jit {
namespace {

using test::Call;
using test::ProbedFunction;
using test::Stepper;
using test::Way;

ProbedFunction* function = nullptr;
jmp_buf landing;

void nothing(uint64_t) {}
void recurse(uint64_t n) {
  if (n == 0) return;
  EXPECT_EQ((*function)(recurse, n - 1), n - 1 + 100);
}
void jump_out(uint64_t) { longjmp(landing, 1); }

class Returns : public testing::TestWithParam<Way> {
 protected:
  Returns() : f_(GetParam()) { function = &f_; }

  uint64_t open_calls() {
    uint64_t open = 0;
    for (const abi::ShadowFrame& frame : f_.region().frames()) open += frame.slot != 0;
    return open;
  }

  ProbedFunction f_;
};

TEST_P(Returns, each_has_its_own_result_latency_and_depth) {
  constexpr uint64_t kDeepest = 50;
  EXPECT_EQ(f_(recurse, kDeepest), kDeepest + 100);
  EXPECT_EQ(f_(nothing, 7), 107u);
  const std::vector<Call> calls = f_.calls();
  ASSERT_EQ(calls.size(), kDeepest + 2);
  for (uint64_t i = 0; i <= kDeepest; ++i) {  // the innermost returns first
    EXPECT_EQ(calls[i].result, i + 100);
    EXPECT_EQ(calls[i].depth, kDeepest - i);
    EXPECT_GE(calls[i].latency, i > 0 ? calls[i - 1].latency : 0);
  }
  EXPECT_EQ(calls.back().result, 107u);
  EXPECT_EQ(calls.back().depth, 0u);
  EXPECT_LT(calls.back().latency, calls.back().time);
  EXPECT_EQ(open_calls(), 0u);
  EXPECT_EQ(f_.totals().skipped + f_.totals().abandoned, 0u);
}

TEST_P(Returns, the_depth_stays_at_the_most_that_can_be_told) {
  f_(nothing, 1);  // the thread has its place now
  for (abi::ShadowThread& thread : f_.region().threads())
    if (thread.key != 0) thread.top = abi::kNoCall | abi::kDepthMask;
  f_(recurse, 2);
  const std::vector<Call> calls = f_.calls();
  ASSERT_EQ(calls.size(), 4u);
  for (size_t i = 1; i < calls.size(); ++i) EXPECT_EQ(calls[i].depth, abi::kDepthMask);
}

// Its depth would be told wrong.
TEST_P(Returns, a_call_of_a_thread_without_a_place_is_skipped) {
  for (abi::ShadowThread& thread : f_.region().threads()) thread.key = 1;
  f_(nothing, 1);
  EXPECT_TRUE(f_.calls().empty());
  EXPECT_EQ(f_.totals().skipped, 1u);
  EXPECT_EQ(open_calls(), 0u);
  for (abi::ShadowThread& thread : f_.region().threads()) thread.key = 0;
  f_(nothing, 1);
  EXPECT_EQ(f_.calls().size(), 1u);
}

TEST_P(Returns, calls_left_by_longjmp_are_abandoned_when_their_place_is_used_again) {
  constexpr int kTimes = 10;
  static int left;
  for (left = 0; left < kTimes; ++left)
    if (setjmp(landing) == 0) f_(jump_out, 1);
  f_(nothing, 2);
  const std::vector<Call> calls = f_.calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].depth, 0u) << "the calls it seems to be in are over";
  EXPECT_EQ(f_.totals().abandoned + open_calls(), uint64_t{kTimes});
}

TEST_P(Returns, a_call_that_was_open_before_the_probes_is_none) {
  f_.region().region()[f_.region().geometry().switches_offset()] = abi::kSwitchOff;
  f_(
      [](uint64_t) {
        ring::TestRegion& region = function->region();
        region.region()[region.geometry().switches_offset()] = abi::kSwitchOn;
      },
      1);
  EXPECT_TRUE(f_.calls().empty());
  EXPECT_EQ(f_.totals().skipped + f_.totals().abandoned, 0u);
}

TEST_P(Returns, a_child_of_a_fork_returns_from_its_parents_calls) {
  f_(
      [](uint64_t) {
        const pid_t child = ::fork();
        if (child == 0) return;
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
      },
      1);
  if (::getpid() != f_.region().gate()->pid) ::_exit(0);
  EXPECT_EQ(f_.calls().size(), 2u) << "the region is shared, and so is the gate of this test";
}

// Two stacks whose slots hash to the same place.
struct Clash {
  std::vector<uint8_t> memory = std::vector<uint8_t>(64 << 20);
  uint64_t first = 0, second = 0;

  Clash() {
    const uint64_t begin = (reinterpret_cast<uint64_t>(memory.data()) | 15) + 1;
    const uint64_t end = begin + memory.size() - 16;
    first = begin + (1 << 20) - 8;
    for (second = first + (1 << 20); second < end; second += 16)
      if (abi::shadow_frame_offset(second) == abi::shadow_frame_offset(first)) return;
    CHECK(!"no clash found");
  }
};

TEST_P(Returns, calls_in_one_place_are_kept_apart) {
  static Clash clash;
  f_.on_stack(
      clash.first, [](uint64_t) { function->on_stack(clash.second, nothing, 2); }, 1);
  const std::vector<Call> calls = f_.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].result, 102u);
  EXPECT_EQ(calls[1].result, 101u);
  EXPECT_GE(calls[1].latency, calls[0].latency);
  EXPECT_EQ(open_calls(), 0u);
}

TEST_P(Returns, threads_that_fight_for_one_place_lose_nothing_uncounted) {
  static Clash clash;
  constexpr uint64_t kEach = 3000;
  std::atomic<int> ready = 0;
  const auto work = [&](uint64_t slot) {
    ++ready;
    while (ready != 2) {
    }
    for (uint64_t i = 0; i < kEach; ++i)
      EXPECT_EQ(f_.on_stack(slot, nothing, slot & 0xff), (slot & 0xff) + 100);
  };
  std::thread other(work, clash.second);
  work(clash.first);
  other.join();
  EXPECT_EQ(f_.calls().size() + f_.totals().skipped + f_.totals().discarded, 2 * kEach);
  EXPECT_EQ(f_.totals().abandoned + open_calls(), 0u);
}

constexpr size_t kFewestInstructions = 60;

TEST_P(Returns, a_signal_handler_may_call_the_function_between_any_two_instructions) {
  Stepper stepper(f_, [](uint64_t) { EXPECT_EQ((*function)(nothing, 5), 105u); });
  Stepper::set_trap_flag(true);
  const uint64_t result = f_(nothing, 1);
  Stepper::set_trap_flag(false);
  EXPECT_EQ(result, 101u);
  EXPECT_GT(Stepper::seen.size(), kFewestInstructions);
  const std::vector<Call> calls = f_.calls();
  EXPECT_EQ(calls.size(), Stepper::seen.size() + 1);
  EXPECT_EQ(std::count_if(calls.begin(), calls.end(), [](const Call& c) { return c.result == 101; }), 1);
  for (const Call& call : calls) EXPECT_LE(call.depth, 1u);
  EXPECT_EQ(open_calls() + f_.totals().skipped + f_.totals().abandoned, 0u);
  f_(nothing, 1);
  EXPECT_EQ(f_.calls().at(0).depth, 0u);
}

TEST_P(Returns, a_signal_handler_may_leave_by_longjmp_between_any_two_instructions) {
  static sigjmp_buf out;
  static uint64_t leave_at;
  std::set<uint64_t> places;
  {
    Stepper stepper(f_, [](uint64_t) {});
    Stepper::set_trap_flag(true);
    f_(nothing, 1);
    Stepper::set_trap_flag(false);
    places = Stepper::seen;
  }
  EXPECT_GT(places.size(), kFewestInstructions);
  for (const uint64_t place : places) {
    leave_at = place;
    Stepper stepper(f_, [](uint64_t pc) {
      if (pc == leave_at) siglongjmp(out, 1);
    });
    if (sigsetjmp(out, 1) == 0) {
      Stepper::set_trap_flag(true);
      f_(nothing, 2);
    }
    Stepper::set_trap_flag(false);
    ASSERT_EQ(f_(nothing, 3), 103u);
  }
  const std::vector<Call> calls = f_.calls();
  const auto after = [](const Call& c) { return c.result == 103; };
  EXPECT_EQ(static_cast<size_t>(std::count_if(calls.begin(), calls.end(), after)), places.size());
  EXPECT_LE(open_calls(), 1u);
  EXPECT_EQ(f_.totals().skipped, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Returns, testing::Values(Way::kRseq, Way::kShared, Way::kMonotonic),
                         [](const auto& p) { return test::way_name(p.param); });

}  // namespace
}  // namespace blip::jit
