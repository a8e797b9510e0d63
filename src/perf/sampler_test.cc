// SPDX-License-Identifier: MIT
// Samples of children of the test, whose CPU time the kernel tells. Amounts are compared with CPU time, never with the clock.
#include "perf/sampler.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <new>
#include <thread>

#include "base/mapping.h"

namespace blip::perf {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds cpu_time(clockid_t clock) {
  timespec t;
  return ::clock_gettime(clock, &t) == 0 ? std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec)
                                         : nanoseconds(0);
}

// Known to the test by its address.
__attribute__((noinline)) void burn(nanoseconds amount) {
  const nanoseconds end = cpu_time(CLOCK_THREAD_CPUTIME_ID) + amount;
  while (cpu_time(CLOCK_THREAD_CPUTIME_ID) < end)
    for (int i = 0; i < 20'000; ++i) asm volatile("");
}

// Steps that the test and its child take together.
struct Shared {
  std::atomic<bool> go{false};
  std::atomic<bool> done{false};
  std::atomic<pid_t> other{0};
};

// A child that waits for `go`, does its work, and stays until it is killed.
class Child {
 public:
  explicit Child(const std::function<void(Shared&)>& work)
      : memory_(Mapping::create(4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0).value()),
        shared_(new (memory_.data()) Shared) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!shared_->go) ::usleep(1000);
    work(*shared_);
    shared_->done = true;
    for (;;) ::pause();
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void run() {
    shared_->go = true;
    while (!shared_->done) ::usleep(1000);
  }
  pid_t pid() const { return pid_; }
  Shared& shared() { return *shared_; }
  nanoseconds used() const {
    clockid_t clock;
    return ::clock_getcpuclockid(pid_, &clock) == 0 ? cpu_time(clock) : nanoseconds(0);
  }

 private:
  Mapping memory_;
  Shared* shared_;
  pid_t pid_;
};

#define START_OR_SKIP(sampler, pid, ...)                                              \
  auto sampler##_result = Sampler::start(pid, Sampler::Options{__VA_ARGS__});         \
  if (!sampler##_result && sampler##_result.error().kind() == ErrorKind::kPermission) \
    GTEST_SKIP() << sampler##_result.error().message();                               \
  ASSERT_TRUE(sampler##_result) << sampler##_result.error().message();                \
  Sampler& sampler = **sampler##_result

struct Counts {
  uint64_t all = 0, in_burn = 0;
  std::map<uint32_t, uint64_t> by_pid, by_tid;
};

Counts drain(Sampler& sampler) {
  Counts counts;
  std::map<uint32_t, uint64_t> last;  // by CPU
  sampler.drain([&](const Sample& sample) {
    ++counts.all;
    ++counts.by_pid[sample.pid];
    ++counts.by_tid[sample.tid];
    EXPECT_LE(last[sample.cpu], sample.time_ns);
    last[sample.cpu] = sample.time_ns;
    const auto begin = reinterpret_cast<uint64_t>(&burn);
    counts.in_burn += !sample.in_kernel && sample.pc - begin < 4096;
    EXPECT_TRUE(sample.in_kernel || !sample.has_registers || !sample.stack.empty());
  });
  return counts;
}

constexpr nanoseconds kPeriod = milliseconds(1);
constexpr size_t kPages = 1024;  // room for all of a test

TEST(Sampler, takes_one_sample_a_period_of_CPU_time) {
  Child child([](Shared&) { burn(milliseconds(400)); });
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .ring_pages = kPages);
  const nanoseconds before = child.used();
  child.run();
  const auto periods = static_cast<double>((child.used() - before) / kPeriod);
  const Counts counts = drain(sampler);
  EXPECT_EQ(sampler.lost(), 0U);
  EXPECT_GT(counts.all, periods * (sampler.sees_kernel() ? 0.95 : 0.5));
  EXPECT_LT(counts.all, periods * 1.05);
  EXPECT_GT(counts.in_burn, counts.all / 4);
}

TEST(Sampler, sees_threads_that_are_there_and_those_that_come_later) {
  Child child([](Shared& shared) {
    std::thread later([&] {
      shared.other = ::gettid();
      burn(milliseconds(100));
    });
    burn(milliseconds(100));
    later.join();
  });
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .ring_pages = kPages);
  child.run();
  Counts counts = drain(sampler);
  EXPECT_GT(counts.by_tid[static_cast<uint32_t>(child.pid())], 50U);
  EXPECT_GT(counts.by_tid[static_cast<uint32_t>(child.shared().other.load())], 50U);
}

// What a fork of the target does and returns is as without samples.
void fork_and_burn(Shared& shared) {
  for (int i = 0; i < 50; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(i);
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != i) ::_exit(1);
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    burn(milliseconds(100));
    ::_exit(0);
  }
  shared.other = pid;
  ::waitpid(pid, nullptr, 0);
}

TEST(Sampler, follows_children_and_leaves_forks_as_they_are) {
  Child child(fork_and_burn);
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .ring_pages = kPages);
  child.run();
  EXPECT_GT(drain(sampler).by_pid[static_cast<uint32_t>(child.shared().other.load())], 50U);
}

TEST(Sampler, leaves_children_out_if_they_are_not_asked_for) {
  Child child(fork_and_burn);
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .follow_children = false,
                .ring_pages = kPages);
  child.run();
  const Counts counts = drain(sampler);
  EXPECT_FALSE(counts.by_pid.contains(static_cast<uint32_t>(child.shared().other.load())));
}

TEST(Sampler, counts_what_a_ring_has_no_room_for) {
  Child child([](Shared&) { burn(milliseconds(400)); });
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .ring_pages = 8);
  const nanoseconds before = child.used();
  child.run();
  const auto periods = static_cast<double>((child.used() - before) / kPeriod);
  const Counts counts = drain(sampler);
  EXPECT_GT(sampler.lost(), 0U);
  EXPECT_GT(counts.all + sampler.lost(), periods * (sampler.sees_kernel() ? 0.95 : 0.5));
  EXPECT_LT(counts.all + sampler.lost(), periods * 1.05);
}

TEST(Sampler, stops) {
  Child child([](Shared&) { burn(milliseconds(50)); });
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .ring_pages = kPages);
  sampler.stop();
  child.run();
  EXPECT_LE(drain(sampler).all, 1U);
}

// Each thread of a storm of births is sampled once, not twice and not never: threads are born while others are being attached.
TEST(Sampler, samples_threads_that_are_born_while_it_starts_once) {
  Child child([](Shared& shared) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 200; ++i) {
      threads.emplace_back([&] {
        while (!shared.other) ::usleep(1000);
        burn(milliseconds(4));
      });
      ::usleep(100);
    }
    for (std::thread& thread : threads) thread.join();
  });
  child.shared().go = true;
  START_OR_SKIP(sampler, child.pid(), .period = kPeriod, .stack_bytes = 512, .ring_pages = kPages);
  const nanoseconds before = child.used();
  child.shared().other = 1;
  while (!child.shared().done) ::usleep(1000);
  const auto periods = static_cast<double>((child.used() - before) / kPeriod);
  const Counts counts = drain(sampler);
  // A thread's last, unfinished period on each CPU is not seen.
  EXPECT_GT(counts.all, periods * 0.4);
  EXPECT_LT(counts.all, periods * 1.05);
  EXPECT_GE(counts.by_tid.size(), 190U);
}

TEST(Sampler, says_that_a_process_has_gone) {
  EXPECT_EQ(Sampler::start(999'999'999, {}).error().kind(), ErrorKind::kGone);
}

}  // namespace
}  // namespace blip::perf
