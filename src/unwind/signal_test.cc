// SPDX-License-Identifier: MIT
// Walks that begin in a signal handler: through the signal frame into code that was interrupted anywhere.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "unwind/test_self.h"

namespace blip::unwind {
namespace {

// The handler's stack, and the one that it interrupted.
struct TwoWindows {
  StackWindow one, other;
  abi::SafeWord read(uint64_t address) const {
    const abi::SafeWord word = one.read(address);
    return word.is_there != 0 ? word : other.read(address);
  }
};

struct Moments {
  TwoWindows windows{};
  size_t taken = 0, equal = 0;
  size_t ends[abi::kUnwindEnds] = {};

  size_t whole() const { return ends[static_cast<size_t>(abi::UnwindEnd::kOutermost)]; }
  Pair different;
};
Moments* moments;

void compare_here(int) {
  static Pair pair;
  both_ways(moments->windows, pair);
  ++moments->taken;
  ++moments->ends[static_cast<size_t>(pair.ours.end)];
  if (pair.agree())
    ++moments->equal;
  else
    moments->different = pair;
}

std::string difference(const Pair& pair) {
  std::ostringstream text;
  text << std::hex << why_cut(pair.ours.end);
  for (size_t i = 1; i < std::max(pair.ours.frames.count, pair.theirs.count); ++i)
    text << "\n" << pair.ours.frames.at[i] << " " << pair.theirs.at[i];
  return text.str();
}

class InHandler : public testing::Test {
 protected:
  void SetUp() override {
    own_tables();
    void* warm[1];
    backtrace(warm, 1);  // loads libgcc
    moments = &taken_;
    taken_.windows.one = own_window();
  }
  void on_signal(int number, int flags) {
    struct sigaction action {};
    action.sa_handler = compare_here;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
  }
  Moments taken_;
};

TEST_F(InHandler, of_a_signal_raised) {
  on_signal(SIGUSR1, 0);
  raise(SIGUSR1);
  EXPECT_EQ(taken_.taken, 1u);
  EXPECT_EQ(taken_.equal, 1u) << difference(taken_.different);
  EXPECT_EQ(taken_.whole(), 1u);
}

TEST_F(InHandler, on_a_stack_of_its_own) {
  std::vector<uint8_t> memory(1 << 18);
  stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()}, before{};
  ASSERT_EQ(sigaltstack(&stack, &before), 0);
  taken_.windows.other = {reinterpret_cast<uint64_t>(memory.data()),
                          reinterpret_cast<uint64_t>(memory.data()) + memory.size()};
  on_signal(SIGUSR1, SA_ONSTACK);
  raise(SIGUSR1);
  sigaltstack(&before, nullptr);
  EXPECT_EQ(taken_.equal, 1u) << difference(taken_.different);
  EXPECT_EQ(taken_.whole(), 1u);
}

// Work in libc, libstdc++ and this program.
void work() {
  std::vector<std::string> words;
  for (int i = 0; i < 200; ++i) words.push_back(std::to_string(i * 7919 % 1000) + "x");
  std::sort(words.begin(), words.end());
  std::ostringstream out;
  for (const std::string& word : words) out << word << 1.5;
  const std::regex pattern("([0-9]+)x1\\.5");
  std::smatch match;
  const std::string text = out.str();
  std::regex_search(text, match, pattern);
}

TEST_F(InHandler, at_any_moment) {
  on_signal(SIGALRM, SA_RESTART);
  constexpr size_t kMoments = 300;
  itimerval timer{.it_interval = {0, 997}, .it_value = {0, 997}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  while (__atomic_load_n(&taken_.taken, __ATOMIC_RELAXED) < kMoments) work();
  timer = {};
  setitimer(ITIMER_REAL, &timer, nullptr);
  EXPECT_EQ(taken_.equal, taken_.taken) << difference(taken_.different);
  EXPECT_GT(taken_.whole() * 100, taken_.taken * 95);
}

}  // namespace
}  // namespace blip::unwind
