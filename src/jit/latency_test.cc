// SPDX-License-Identifier: MIT
// Calls that are measured, run for real: in this process, with pads as a target gets them.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/wait.h>

#include <thread>

#include "jit/test_calls.h"
#include "jit/test_stepper.h"

namespace blip::jit {
namespace {

using test::kClass;
using test::ProbedFunction;
using test::Stepper;
using test::Way;

ProbedFunction* function = nullptr;
jmp_buf landing;
uint64_t shift;

void nothing(uint64_t) {}
void recurse(uint64_t n) {
  if (n != 0) (*function)(recurse, n - 1);
}
void jump_out(uint64_t) { longjmp(landing, 1); }

// As if the call that is open had begun `shift` units of the clock earlier.
void begin_earlier(uint64_t) {
  for (abi::ShadowFrame& frame : function->region().frames()) {
    if (frame.slot == 0) continue;
    frame.time -= shift << abi::kClassBits;
    frame.sum -= shift << abi::kClassBits;
  }
}

class Latencies : public testing::TestWithParam<Way> {
 protected:
  Latencies() : f_(GetParam(), Effect::kLatency) { function = &f_; }

  uint64_t bucket(uint32_t row, uint64_t latency) const {
    const abi::Geometry& g = f_.region().geometry();
    const uint64_t offset = g.latency_buckets_offset(row, kClass) + 8 * abi::latency_bucket(latency);
    return *reinterpret_cast<const uint64_t*>(f_.region().region() + offset);
  }
  uint64_t in_bucket(uint64_t latency) const {
    uint64_t all = 0;
    for (uint32_t row = 0; row <= f_.region().geometry().ring_count; ++row) all += bucket(row, latency);
    return all;
  }
  // Checks a region with one call.
  void expect_one_call(uint64_t least) const {
    const ring::Histogram h = f_.latencies();
    EXPECT_EQ(h.count(), 1u);
    EXPECT_EQ(h.sum(), h.max());
    EXPECT_GE(h.max(), least);
    EXPECT_EQ(in_bucket(h.max()), 1u) << h.max();
  }
  void forget() {
    f_.region().format();
    f_.region().header()->shadow_by_thread = GetParam() == Way::kRseq;
  }

  mutable ProbedFunction f_;
};

TEST_P(Latencies, are_in_the_bucket_they_belong_to) {
  for (int i = 0; i < 200; ++i) {
    f_(nothing, 1);
    expect_one_call(0);
    forget();
  }
  for (unsigned bit = 0; bit < abi::kLatencyBits; ++bit) {
    for (uint64_t more = 0; more < 16; ++more) {
      shift = (uint64_t{1} << bit) + (more << bit >> 4);
      f_(begin_earlier, 1);
      expect_one_call(shift);
      forget();
    }
  }
}

TEST_P(Latencies, of_recursion_and_of_all_calls_add_up) {
  EXPECT_EQ(f_(recurse, 50), 150u);
  ring::Histogram h = f_.latencies();
  EXPECT_EQ(h.count(), 51u);
  EXPECT_GE(h.sum(), h.max());
  EXPECT_LE(h.sum(), 51 * h.max());
  EXPECT_LE(h.percentile(50), h.max());
  shift = uint64_t{1} << 40;
  f_(begin_earlier, 1);
  h = f_.latencies();
  EXPECT_EQ(h.count(), 52u);
  EXPECT_GE(h.max(), shift);
  EXPECT_LT(h.sum() - h.max(), shift);
  EXPECT_EQ(f_.totals().skipped + f_.totals().abandoned, 0u);
}

TEST_P(Latencies, of_several_threads_and_processes_are_all_counted) {
  constexpr uint64_t kEach = 20000;
  const auto work = [&] {
    for (uint64_t i = 0; i < kEach; ++i) f_(nothing, i);
  };
  const pid_t child = ::fork();
  std::thread a(work), b(work);
  a.join();
  b.join();
  if (child == 0) ::_exit(0);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(f_.latencies().count() + f_.totals().skipped, 4 * kEach);
}

TEST_P(Latencies, of_calls_left_by_longjmp_are_none) {
  static int left;
  for (left = 0; left < 10; ++left)
    if (setjmp(landing) == 0) f_(jump_out, 1);
  f_(nothing, 2);
  EXPECT_EQ(f_.latencies().count(), 1u);
}

TEST_P(Latencies, nothing_is_counted_twice_or_lost_by_signals_at_any_instruction) {
  Stepper stepper(f_, [](uint64_t) { EXPECT_EQ((*function)(nothing, 5), 105u); });
  Stepper::set_trap_flag(true);
  const uint64_t result = f_(nothing, 1);
  Stepper::set_trap_flag(false);
  EXPECT_EQ(result, 101u);
  EXPECT_GT(Stepper::seen.size(), 40u);
  EXPECT_EQ(f_.latencies().count(), Stepper::seen.size() + 1);
  EXPECT_EQ(f_.totals().skipped + f_.totals().abandoned, 0u);
}

TEST_P(Latencies, a_gate_that_is_closed_or_ignored_counts_no_call) {
  f_.region().gate()->gate = abi::kGateIgnored;
  f_(nothing, 1);
  EXPECT_EQ(f_.latencies().count() + f_.totals().skipped, 0u);
  f_.region().gate()->gate = abi::kGateClosed;
  f_(nothing, 1);
  EXPECT_EQ(f_.latencies().count(), 0u);
  EXPECT_EQ(f_.totals().skipped, 1u);
  f_.region().header()->unannounced_gate = abi::kGateOpen | abi::kGateChild;
  f_(nothing, 1);
  EXPECT_EQ(f_.region().gate()->gate, abi::kGateOpen | abi::kGateChild);
  f_(nothing, 1);
  EXPECT_EQ(f_.latencies().count(), 2u);
  EXPECT_EQ(f_.totals().skipped, 1u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Latencies, testing::Values(Way::kRseq, Way::kShared, Way::kMonotonic),
                         [](const auto& p) { return test::way_name(p.param); });

// An int3 in place of the instruction that publishes: its signal comes between sum and bucket.
TEST(Latency, a_signal_between_sum_and_bucket_leaves_both_right) {
  if (__rseq_size == 0) GTEST_SKIP() << "no restartable sequences here";
  ProbedFunction f(Way::kRseq, Effect::kLatency);
  constexpr uint8_t kInc[] = {0x48, 0xff, 0x84, 0xd1};  // inc qword ptr [rcx+rdx*8+...]
  const std::span<uint8_t> pads = f.pads();
  const auto inc = std::search(pads.begin(), pads.end(), std::begin(kInc), std::end(kInc));
  ASSERT_NE(inc, pads.end());
  static int signals;
  signals = 0;
  struct sigaction count {
  }, before;
  count.sa_handler = [](int) { ++signals; };
  ::sigaction(SIGTRAP, &count, &before);
  *inc = 0xcc;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(f(nothing, 1), 101u);
    EXPECT_EQ(f.latencies().count(), static_cast<uint64_t>(i));
  }
  *inc = kInc[0];
  ::sigaction(SIGTRAP, &before, nullptr);
  EXPECT_EQ(signals, 3);
  f(nothing, 1);
  const ring::Histogram h = f.latencies();
  EXPECT_EQ(h.count(), 4u);
  EXPECT_GE(h.sum(), h.max());
  EXPECT_LE(h.sum(), 4 * h.max());
}

}  // namespace
}  // namespace blip::jit
