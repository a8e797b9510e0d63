// SPDX-License-Identifier: MIT
#include "probe/uprobe/uprobes.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

extern "C" void no_instruction();
extern "C" void not_for_uprobes();  // the kernel does not single-step what is locked
asm(R"(
no_instruction:  .byte 0x06, 0x06, 0x06
not_for_uprobes: lock incl (%rax)
                 ret
)");

namespace blip::probe {
namespace {

constexpr int kCalls = 500;

[[gnu::noinline]] long called(long a) {
  asm volatile("" : "+r"(a));
  return a + 1;
}

void call_often() {
  for (long i = 0; i < kCalls; ++i)
    if (called(i) != i + 1) _exit(1);
}

// A child that calls called() kCalls times in its first thread, as often in a second one and in a forked
// child, as soon as release() says so.
class Child {
 public:
  Child() {
    if (::pipe(pipe_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) return;
    char c;
    if (::read(pipe_[0], &c, 1) != 1) _exit(2);
    std::thread other(call_often);
    call_often();
    other.join();
    const pid_t forked = ::fork();
    if (forked == 0) {
      call_often();
      _exit(0);
    }
    int status = 1;
    ::waitpid(forked, &status, 0);
    if (::read(pipe_[0], &c, 1) != 1) _exit(2);
    _exit(forked > 0 && status == 0 ? 0 : 3);
  }
  pid_t pid() const { return pid_; }
  void release() const { EXPECT_EQ(::write(pipe_[1], "x", 1), 1); }
  int wait() const {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  int pipe_[2];
  pid_t pid_;
};

class UprobesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

INSTANTIATE_TEST_SUITE_P(LinksAndEvents, UprobesTest, testing::Bool());

TEST_P(UprobesTest, hits_of_all_threads_and_no_children) {
  const Child child;
  auto process = proc::Process::open(child.pid());
  auto memory = proc::Memory::open(child.pid());
  ASSERT_TRUE(process && memory);
  const UprobePoint point{TargetAddr(reinterpret_cast<uintptr_t>(&called))};
  auto uprobes = Uprobes::arm(*process, *memory, {&point, 1},
                              {.registers = true, .ring_size = 1 << 20, .links = GetParam()});
  ASSERT_TRUE(uprobes) << uprobes.error().message();
  child.release();
  std::vector<UprobeHit> hits;
  std::vector<uint64_t> arguments;
  while (hits.size() < 2 * kCalls && process->alive())
    (*uprobes)->drain([&](const UprobeHit& hit) { hits.push_back(hit); });
  child.release();
  EXPECT_EQ(child.wait(), 0);
  (*uprobes)->drain([&](const UprobeHit& hit) { hits.push_back(hit); });
  ASSERT_EQ(hits.size(), 2 * kCalls);
  uint64_t sum = 0;
  for (const UprobeHit& hit : hits) {
    EXPECT_EQ(hit.pid, child.pid());
    sum += hit.registers[7];  // rdi
  }
  EXPECT_EQ(sum, uint64_t{kCalls} * (kCalls - 1));
  EXPECT_EQ((*uprobes)->entry(0).discarded, 0u);
}

TEST_P(UprobesTest, places_without_an_instruction_are_refused_alone) {
  const Child child;
  auto process = proc::Process::open(child.pid());
  auto memory = proc::Memory::open(child.pid());
  ASSERT_TRUE(process && memory);
  static const int data = 1;
  const UprobePoint points[] = {{TargetAddr(reinterpret_cast<uintptr_t>(&data))},
                                {TargetAddr(reinterpret_cast<uintptr_t>(&called))},
                                {TargetAddr(reinterpret_cast<uintptr_t>(&no_instruction))},
                                {TargetAddr(reinterpret_cast<uintptr_t>(&not_for_uprobes))}};
  auto uprobes = Uprobes::arm(*process, *memory, points, {.counts = true, .links = GetParam()});
  ASSERT_TRUE(uprobes) << uprobes.error().message();
  using testing::Pair;
  EXPECT_THAT((*uprobes)->refused(),
              testing::UnorderedElementsAre(Pair(0, "it is not in a mapped file's code"),
                                            Pair(2, "there is no instruction"),
                                            Pair(3, "the kernel cannot put a uprobe on this instruction")));
  child.release();
  child.release();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ((*uprobes)->entry(1).hits, uint64_t{2 * kCalls});
}

}  // namespace
}  // namespace blip::probe
