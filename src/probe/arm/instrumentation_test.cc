// SPDX-License-Identifier: MIT
// Arming and disarming a child of this test that keeps working, and what is left in it.
#include "probe/arm/instrumentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "probe/code/resolve.h"
#include "probe/inject/leftovers.h"
#include "probe/patch/plan.h"
#include "ring/counters.h"

extern "C" {
// Looked up by name in /proc/PID/exe.
[[gnu::noinline, gnu::used]] uint64_t probed_function(uint64_t a) {
  asm volatile("" : "+r"(a));
  return a * 3 + 1;
}
[[gnu::noinline, gnu::used]] int probed_in_vfork_child(int a) {
  asm volatile("" : "+r"(a));
  return a + 1;
}
}

namespace blip::probe {
namespace {

// A child and its test share this.
struct Shared {
  std::atomic<uint64_t> calls;
  std::atomic<int> started;  // threads
  std::atomic<uint64_t> errors;
  std::atomic<bool> stop;
};

class Target {
 public:
  explicit Target(int threads) {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = ::fork();
    if (pid_ == 0) work(threads);
    while (shared_->calls < 1000 || shared_->started < threads) ::usleep(1000);
  }
  ~Target() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }

  pid_t pid() const { return pid_; }
  Shared& shared() { return *shared_; }
  // Ends the child normally; its exit code.
  int finish() {
    shared_->stop = true;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  [[noreturn]] void work(int threads) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([this] {
        ++shared_->started;
        for (uint64_t n = 0; !shared_->stop; ++n) {
          if (probed_function(n) != n * 3 + 1) ++shared_->errors;
          shared_->calls.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
    for (std::thread& t : all) t.join();
    ::_exit(0);
  }

  Shared* shared_;
  pid_t pid_;
};

std::string maps_of(pid_t pid) {
  std::string text;
  auto maps = proc::read_maps(pid);
  for (const proc::Map& m : *maps) {
    if (m.path == "[heap]") continue;
    text += std::to_string(m.range.begin.value) + "-" + std::to_string(m.range.end.value) +
            (m.exec ? "x" : "") + (m.write ? "w" : "") + m.path + "\n";
  }
  return text;
}

std::vector<uint8_t> text_of(const proc::Memory& memory, const Module& module) {
  std::vector<uint8_t> bytes;
  for (const AddrRange& range : module.text()) {
    std::vector<uint8_t> part(range.size());
    EXPECT_TRUE(memory.read(range.begin, part));
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

struct Traced {
  explicit Traced(pid_t pid) : process(*proc::Process::open(pid)), memory(*proc::Memory::open(pid)) {
    modules = std::move(load_modules(process, memory, *proc::read_maps(pid))->modules);
  }

  Result<std::unique_ptr<Instrumentation>> arm(const std::string& spec) {
    const std::vector<elf::Spec> specs{*elf::parse_spec(spec)};
    auto targets = resolve_functions(specs, modules);
    if (!targets) return targets.error();
    std::vector<Probe> probes;
    uint16_t id = abi::kFirstClass;
    ModuleSites sites(modules.size());
    for (const FunctionTarget& t : *targets) {
      x86::TrampolineSpace none;
      const std::vector<Point> points{{.addr = t.function.addr, .is_entry = true, .function = t.function}};
      ModulePlan plan = plan_points(modules[t.module], points, {}, none);
      plan.probes.front().site += sites[t.module].size();
      std::move(plan.sites.begin(), plan.sites.end(), std::back_inserter(sites[t.module]));
      probes.push_back({t.module, plan.probes.front(), {.effect = jit::Effect::kCount, .class_id = id++}});
    }
    return Instrumentation::arm(process, memory, modules, std::move(sites), std::move(probes),
                                {.geometry = {.class_count = id}, .modules_complete = true});
  }

  proc::Process process;
  proc::Memory memory;
  std::vector<Module> modules;
};

uint64_t hits(const Instrumentation& i) {
  return ring::CounterReader(i.geometry(), i.region()).totals().hits;
}

TEST(Instrumentation, counts_exactly_and_leaves_nothing_behind_over_many_cycles) {
  Target target(3);
  Traced traced(target.pid());
  const std::string maps = maps_of(target.pid());
  const auto text = text_of(traced.memory, traced.modules.front());
  for (int i = 0; i < 30; ++i) {
    auto armed = traced.arm("probed_function");
    ASSERT_TRUE(armed) << armed.error().message();
    while (hits(**armed) == 0) ::usleep(2000);  // a busy machine
    auto removed = (*armed)->disarm();
    ASSERT_TRUE(removed) << removed.error().message();
    ASSERT_FALSE(removed->kept) << removed->kept_reason;
    EXPECT_EQ(removed->foreign, 0u);
    ASSERT_EQ(text_of(traced.memory, traced.modules.front()), text);
    ASSERT_EQ(maps_of(target.pid()), maps);
  }
  EXPECT_EQ(target.shared().errors, 0u);
  EXPECT_EQ(target.finish(), 0);
}

// Every thread has made several calls since: none is in a pad that looked at the switch before.
void let_work(Target& target) {
  const uint64_t calls = target.shared().calls;
  while (target.shared().calls < calls + 10000) ::usleep(2000);
}

TEST(Instrumentation, a_probe_that_is_switched_off_counts_nothing_until_it_is_on_again) {
  Target target(1);
  Traced traced(target.pid());
  auto armed = traced.arm("probed_function");
  ASSERT_TRUE(armed) << armed.error().message();
  const auto wait_for_hits = [&](uint64_t more) {
    const uint64_t before = hits(**armed);
    while (hits(**armed) < before + more) ::usleep(2000);
  };
  wait_for_hits(1);
  (*armed)->switch_probe(0, false);
  let_work(target);
  const uint64_t off = hits(**armed);
  let_work(target);
  EXPECT_EQ(hits(**armed), off);
  (*armed)->switch_probe(0, true);
  wait_for_hits(1000);
  EXPECT_EQ(target.shared().errors, 0u);
  EXPECT_EQ(target.finish(), 0);
}

TEST(Instrumentation, destructor_restores) {
  Target target(1);
  Traced traced(target.pid());
  const std::string maps = maps_of(target.pid());
  { ASSERT_TRUE(traced.arm("probed_function")); }
  EXPECT_EQ(maps_of(target.pid()), maps);
}

TEST(Instrumentation, a_second_blip_is_told_who_the_first_is) {
  Target target(1);
  Traced traced(target.pid());
  auto armed = traced.arm("probed_function");
  ASSERT_TRUE(armed);
  auto cleaned = clean_leftovers(traced.process, traced.memory);
  ASSERT_FALSE(cleaned);
  EXPECT_EQ(cleaned.error().kind(), ErrorKind::kBusy);
  EXPECT_THAT(cleaned.error().message(), testing::HasSubstr(std::to_string(::getpid())));
}

TEST(Instrumentation, leftovers_of_a_killed_blip_are_cleaned) {
  Target target(2);
  Traced traced(target.pid());
  const std::string maps = maps_of(target.pid());
  const pid_t blip = ::fork();
  if (blip == 0) {
    Traced other(target.pid());
    auto armed = other.arm("probed_function");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(blip, nullptr, 0);
  ASSERT_NE(maps_of(target.pid()), maps);
  auto cleaned = clean_leftovers(traced.process, traced.memory);
  ASSERT_TRUE(cleaned) << cleaned.error().message();
  ASSERT_TRUE(cleaned->found);
  EXPECT_EQ(maps_of(target.pid()), maps);
  EXPECT_EQ(target.shared().errors, 0u);
  EXPECT_EQ(target.finish(), 0);
}

TEST(Instrumentation, bytes_of_another_tool_are_not_overwritten) {
  Target target(1);
  Traced traced(target.pid());
  auto found = resolve_functions(std::vector{*elf::parse_spec("probed_in_vfork_child")}, traced.modules);
  ASSERT_TRUE(found);
  TargetAddr site = traced.modules.front().to_target(found->front().function.addr);
  if (*traced.memory.read_value<uint32_t>(site) == 0xfa1e0ff3) site = site + 4;  // behind endbr64
  const uint8_t breakpoint = 0xcc;
  const auto original = *traced.memory.read_value<uint8_t>(site);
  ASSERT_TRUE(traced.memory.write(site, {&breakpoint, 1}));
  auto armed = traced.arm("probed_in_vfork_child");
  ASSERT_TRUE(armed);
  EXPECT_EQ((*armed)->report().refused.size(), 1u);
  ASSERT_TRUE((*armed)->disarm());
  EXPECT_EQ(*traced.memory.read_value<uint8_t>(site), breakpoint);
  ASSERT_TRUE(traced.memory.write(site, {&original, 1}));
}

}  // namespace
}  // namespace blip::probe
