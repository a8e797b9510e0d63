// SPDX-License-Identifier: MIT
#include "session/sampling/sampled_stacks.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "perf/sampler.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"

namespace blip::session {
namespace {

// A chain whose functions are known by their addresses; none ends with a tail call.
__attribute__((noinline, noclone)) void innermost() {
  for (int i = 0; i < 1'000'000; ++i) asm volatile("");
}
__attribute__((noinline, noclone)) void middle() {
  innermost();
  asm volatile("");
}
// Its frame is larger than the copies of some tests.
__attribute__((noinline, noclone)) void outermost(size_t room) {
  auto* bytes = static_cast<volatile uint8_t*>(__builtin_alloca(room));
  bytes[0] = 1;
  for (;;) {
    middle();
    asm volatile("");
  }
}

pid_t start_child(size_t room) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    outermost(room);
  }
  return pid;
}

struct Walks {
  uint64_t of_innermost = 0, whole = 0, cut = 0;
};

bool is_in(TargetAddr address, const void* function) {
  return address.value - reinterpret_cast<uint64_t>(function) < 256;
}

// The child has this program's files where the test has them.
Walks walk_samples(size_t room, uint32_t stack_bytes, std::string& why_not) {
  const pid_t pid = start_child(room);
  Walks walks;
  const perf::Sampler::Options options{.period = std::chrono::milliseconds(1), .stack_bytes = stack_bytes};
  auto sampler = perf::Sampler::start(pid, options);
  if (!sampler) {
    why_not = sampler.error().message();
  } else {
    const auto process = proc::Process::open(pid);
    const auto open_memory = proc::Memory::open(pid);
    const auto maps = proc::read_maps(pid);
    const auto loaded = probe::load_modules(*process, *open_memory, *maps);
    const auto stacks = SampledStacks::create(loaded->modules, std::nullopt);
    for (int i = 0; i < 400 && walks.of_innermost < 20; ++i) {
      ::usleep(10'000);
      (*sampler)->drain([&](const perf::Sample& sample) {
        const unwind::Stack stack = (*stacks)->walk(sample, 64);
        if (stack.frames.empty() || !is_in(stack.frames[0].address, reinterpret_cast<void*>(&innermost)))
          return;
        ++walks.of_innermost;
        walks.cut += stack.end == abi::UnwindEnd::kUnreadable;
        walks.whole += stack.end == abi::UnwindEnd::kOutermost && stack.frames.size() > 3 &&
                       is_in(stack.frames[1].code(), reinterpret_cast<void*>(&middle)) &&
                       is_in(stack.frames[2].code(), reinterpret_cast<void*>(&outermost));
      });
    }
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return walks;
}

TEST(SampledStacks, are_walked_up_to_the_program_s_beginning) {
  std::string why_not;
  const Walks walks = walk_samples(64, 32 << 10, why_not);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_GE(walks.of_innermost, 20U);
  EXPECT_EQ(walks.whole, walks.of_innermost);
}

TEST(SampledStacks, end_where_their_copy_ends) {
  std::string why_not;
  const Walks walks = walk_samples(64 << 10, 1024, why_not);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_GE(walks.of_innermost, 20U);
  EXPECT_EQ(walks.cut, walks.of_innermost);
}

TEST(SampledStacks, without_registers_have_the_address_alone) {
  const auto stacks = SampledStacks::create({}, std::nullopt);
  ASSERT_TRUE(stacks);
  const unwind::Stack stack = (*stacks)->walk({.pc = 0x1000}, 64);
  ASSERT_EQ(stack.frames.size(), 1U);
  EXPECT_EQ(stack.frames[0].address, TargetAddr(0x1000));
}

}  // namespace
}  // namespace blip::session
