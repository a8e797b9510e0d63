// SPDX-License-Identifier: MIT
// Values of the entry, looked at in the return: each call's own, or none.
#include <gtest/gtest.h>
#include <setjmp.h>

#include <atomic>
#include <thread>

#include "jit/test_calls.h"
#include "jit/test_stepper.h"

namespace blip::jit {
namespace {

using script::Op;
using test::Keeping;
using test::ProbedFunction;
using test::Stepper;
using test::Way;

ProbedFunction* function = nullptr;
jmp_buf landing;
uint64_t watched = 77;

// Keeps the argument (rsi), what is at watched, and a fault; records if what is said of them holds.
Keeping keeping(Op said, uint64_t which) {
  Keeping k;
  script::Code& kept = k.kept.code;
  const uint32_t argument = kept.add({.op = Op::kRegister, .value = 6});
  const uint32_t read = kept.add({.op = Op::kLoad, .a = kept.constant(reinterpret_cast<uint64_t>(&watched))});
  const uint32_t fault = kept.add({.op = Op::kLoad, .a = kept.constant(16)});
  k.kept.outputs = {{.node = argument}, {.node = read}, {.node = fault}};
  script::Code& code = k.hit.code;
  const uint32_t value = code.add({.op = Op::kEntryValue, .value = which});
  const uint32_t expected =
      which == 0 ? code.add({.op = Op::kSub, .a = code.add({.op = Op::kResult}), .b = code.constant(100)})
                 : code.constant(watched);
  k.hit.condition = code.add({.op = said, .a = value, .b = expected});
  return k;
}

void nothing(uint64_t) {}
void recurse(uint64_t n) {
  if (n > 0) (*function)(recurse, n - 1);
}

class Kept : public testing::TestWithParam<Way> {
 protected:
  // Only calls whose value is there and what it should be are recorded; or those for which it is another.
  void probe(bool right, uint64_t which = 0) {
    f_.emplace(GetParam(), Effect::kRecord, keeping(right ? Op::kEqual : Op::kNotEqual, which));
    function = &*f_;
  }

  std::optional<ProbedFunction> f_;
};

TEST_P(Kept, each_call_finds_its_own) {
  probe(true);
  constexpr uint64_t kDeepest = 50;
  EXPECT_EQ((*f_)(recurse, kDeepest), kDeepest + 100);
  EXPECT_EQ(f_->calls().size(), kDeepest + 1);
}

TEST_P(Kept, what_was_read_at_the_entry_stays_as_it_was) {
  probe(true, 1);
  (*f_)([](uint64_t) { watched = 78; }, 1);
  watched = 77;
  EXPECT_EQ(f_->calls().size(), 1u);
}

TEST_P(Kept, what_could_not_be_read_is_neither_equal_nor_different) {
  for (bool right : {true, false}) {
    probe(right, 2);
    (*f_)(nothing, 1);
    EXPECT_TRUE(f_->calls().empty());
  }
}

TEST_P(Kept, a_block_that_another_call_has_written_to_is_noticed) {
  for (bool right : {true, false}) {
    probe(right);
    for (uint64_t word = 0; word < 5; ++word)
      (*f_)(
          [](uint64_t changed) {
            const auto frames = function->region().frames();
            for (size_t i = 0; i < frames.size(); ++i)
              if (frames[i].slot != 0)
                reinterpret_cast<uint64_t*>(&function->region().kept()[i])[changed] += 1 << 9;
          },
          word);
    EXPECT_TRUE(f_->calls().empty());
  }
}

TEST_P(Kept, calls_left_by_longjmp_leave_nothing_to_the_next) {
  probe(true);
  static uint64_t i;
  for (i = 0; i < 10; ++i)
    if (setjmp(landing) == 0) (*f_)([](uint64_t) { longjmp(landing, 1); }, i);
  (*f_)(nothing, 2);
  EXPECT_EQ(f_->calls().size(), 1u);
}

TEST_P(Kept, threads_never_see_each_others) {
  constexpr uint64_t kEach = 3000;
  for (bool right : {true, false}) {
    probe(right);
    std::atomic<int> ready = 0;
    const auto work = [&](uint64_t base) {
      ++ready;
      while (ready != 2) {
      }
      for (uint64_t i = 0; i < kEach; ++i) (*f_)(nothing, base + i);
    };
    std::thread other(work, 1 << 20);
    work(0);
    other.join();
    EXPECT_EQ(f_->calls().size() + f_->totals().skipped + f_->totals().discarded, right ? 2 * kEach : 0);
  }
}

TEST_P(Kept, a_signal_handler_may_call_the_function_between_any_two_instructions) {
  probe(true);
  Stepper stepper(*f_, [](uint64_t) { (*function)(nothing, 5); });
  Stepper::set_trap_flag(true);
  const uint64_t result = (*f_)(nothing, 1);
  Stepper::set_trap_flag(false);
  EXPECT_EQ(result, 101u);
  EXPECT_EQ(f_->calls().size(), Stepper::seen.size() + 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, Kept, testing::Values(Way::kRseq, Way::kShared, Way::kMonotonic),
                         [](const auto& p) { return test::way_name(p.param); });

}  // namespace
}  // namespace blip::jit
