// SPDX-License-Identifier: MIT
// Traps in a working child: counts, signal actions, refusals, and what is left afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/arm/instrumentation.h"
#include "probe/arm/test_worker.h"
#include "probe/code/resolve.h"
#include "probe/code/trap_sites.h"
#include "probe/inject/leftovers.h"
#include "probe/inject/trap_action.h"
#include "probe/patch/plan.h"
#include "proc/files/status.h"
#include "ring/counters.h"

extern "C" {
// Looked up by name in /proc/PID/exe.
[[gnu::noinline, gnu::used]] uint64_t trapped_function(uint64_t a) {
  asm volatile("" : "+r"(a));
  return a * 3 + 1;
}
}

namespace blip::probe {
namespace {

using testing::HasSubstr;

std::atomic<uint64_t>* handled;  // shared with children

void count_signal(int) { ++*handled; }

void set_action(int signal, void (*handler)(int), bool mask_all = false) {
  struct sigaction action {};
  action.sa_handler = handler;
  if (mask_all) sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

class Traps : public testing::Test {
 protected:
  Traps() {
    handled = static_cast<std::atomic<uint64_t>*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Traps() override {
    set_action(SIGTRAP, SIG_DFL);
    set_action(SIGUSR1, SIG_DFL);
    block(SIG_UNBLOCK);
    ::munmap(handled, 4096);
  }
  static void block(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    ::pthread_sigmask(how, &set, nullptr);
  }
  // A child with the actions and the mask of now.
  void start() {
    worker_.emplace(std::vector<Worker::Function>{trapped_function}, 3);
    process_.emplace(*proc::Process::open(worker_->pid()));
    memory_.emplace(*proc::Memory::open(worker_->pid()));
    modules_ = std::move(load_modules(*process_, *memory_, *proc::read_maps(worker_->pid()))->modules);
    maps_ = maps_of(worker_->pid());
    text_ = text_of(*memory_, modules_.front());
    caught_ = caught();
  }
  // A sanitizer brings its own way of setting actions.
  bool possible() const {
    return no_traps_in(modules_.front()).empty() && find_sigaction_sites(modules_).complete;
  }
  uint64_t caught() const { return proc::read_status(worker_->pid(), worker_->pid())->caught; }

  Result<std::unique_ptr<Instrumentation>> arm() {
    const std::vector<elf::Spec> specs{*elf::parse_spec("trapped_function")};
    auto targets = resolve_functions(specs, modules_);
    if (!targets) return targets.error();
    const FunctionTarget& t = targets->front();
    x86::TrampolineSpace none;
    const std::vector<Point> points{{.addr = t.function.addr, .is_entry = true, .function = t.function}};
    ModulePlan plan =
        plan_points(modules_[t.module], points, PlanOptions{.traps = x86::TrapUse::kAlways}, none);
    EXPECT_EQ(plan.probes.front().refusal, "");
    EXPECT_EQ(plan.probes.front().step, x86::Step::kTrap);
    ModuleSites sites(modules_.size());
    sites[t.module] = std::move(plan.sites);
    std::vector<Probe> probes{
        {t.module, plan.probes.front(), {.effect = jit::Effect::kCount, .class_id = abi::kFirstClass}}};
    return Instrumentation::arm(
        *process_, *memory_, modules_, std::move(sites), std::move(probes),
        {.geometry = {.class_count = abi::kFirstClass + 1}, .modules_complete = true});
  }
  static uint64_t hits(const Instrumentation& i) {
    return ring::CounterReader(i.geometry(), i.region()).totals().hits;
  }
  void expect_clean() {
    EXPECT_EQ(text_of(*memory_, modules_.front()), text_);
    EXPECT_EQ(maps_of(worker_->pid()), maps_);
    EXPECT_EQ(caught(), caught_);
    EXPECT_EQ(worker_->errors(), 0u);
  }
  void expect_refused(const std::string& reason) {
    auto armed = arm();
    ASSERT_TRUE(armed) << armed.error().message();
    ASSERT_EQ((*armed)->report().refused.size(), 1u);
    EXPECT_THAT((*armed)->report().refused[0].second, HasSubstr(reason));
    worker_->wait_rounds(1000);
    ASSERT_TRUE((*armed)->disarm());
    expect_clean();
    EXPECT_EQ(worker_->finish(), 0);
  }

  std::optional<Worker> worker_;
  std::optional<proc::Process> process_;
  std::optional<proc::Memory> memory_;
  std::vector<Module> modules_;
  std::string maps_;
  std::vector<uint8_t> text_;
  uint64_t caught_ = 0;
};

TEST_F(Traps, count_exactly_and_leave_nothing_behind_over_many_cycles) {
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  for (int i = 0; i < 15; ++i) {
    worker_->pause();
    auto armed = arm();
    ASSERT_TRUE(armed) << armed.error().message();
    ASSERT_TRUE((*armed)->report().refused.empty()) << (*armed)->report().refused[0].second;
    EXPECT_NE(caught() & signal_bit(SIGTRAP), 0u);
    worker_->run_exactly(500);
    EXPECT_EQ(hits(**armed), 500u);
    worker_->run_freely();
    worker_->wait_rounds(100);
    auto removed = (*armed)->disarm();
    ASSERT_TRUE(removed) << removed.error().message();
    ASSERT_FALSE(removed->kept) << removed->kept_reason;
    expect_clean();
  }
  EXPECT_EQ(worker_->finish(), 0);
}

TEST_F(Traps, a_handler_of_the_programs_own_is_called_and_stays) {
  set_action(SIGTRAP, count_signal);
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  auto armed = arm();
  ASSERT_TRUE(armed) << armed.error().message();
  worker_->wait_rounds(1000);
  EXPECT_EQ(*handled, 0u);
  ::kill(worker_->pid(), SIGTRAP);
  while (*handled == 0) ::usleep(1000);
  ASSERT_TRUE((*armed)->disarm());
  expect_clean();
  ::kill(worker_->pid(), SIGTRAP);
  while (*handled == 1) ::usleep(1000);
  EXPECT_EQ(worker_->finish(), 0);
}

TEST_F(Traps, refused_while_a_thread_blocks_the_signal) {
  block(SIG_BLOCK);
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  expect_refused("blocks SIGTRAP: a trap would end the process");
}

TEST_F(Traps, refused_while_a_handler_blocks_the_signal) {
  set_action(SIGUSR1, count_signal, true);
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  expect_refused("the handler of signal 10 blocks SIGTRAP: a trap in it would end the process");
}

TEST_F(Traps, refused_while_another_tool_watches_signal_actions) {
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  // The worker sets no signal action: it never runs what is written here.
  const TargetAddr site = find_sigaction_sites(modules_).sites.front().addr;
  std::array<uint8_t, 1> was;
  ASSERT_TRUE(memory_->read(site, was) && memory_->write(site, std::array<uint8_t, 1>{0xcc}));
  auto armed = arm();
  if (armed) {
    ASSERT_EQ((*armed)->report().refused.size(), 1u);
    EXPECT_EQ((*armed)->report().refused[0].second, "another tool watches the program's signal actions");
    ASSERT_TRUE((*armed)->disarm());
  } else {
    EXPECT_THAT(armed.error().message(), HasSubstr("another tool watches"));
  }
  ASSERT_TRUE(memory_->write(site, was));
  expect_clean();
  EXPECT_EQ(worker_->finish(), 0);
}

TEST_F(Traps, those_of_a_dead_blip_go_on_and_are_cleaned_up) {
  start();
  if (!possible()) GTEST_SKIP() << "a sanitizer sets signal actions in its own way";
  const pid_t dies = ::fork();
  if (dies == 0) {
    auto armed = arm();
    if (armed) (void)armed->release();
    ::_exit(armed ? 0 : 1);
  }
  int status = 0;
  ::waitpid(dies, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_NE(caught() & signal_bit(SIGTRAP), 0u);
  EXPECT_NE(text_of(*memory_, modules_.front()), text_);
  worker_->wait_rounds(1000);
  auto cleaned = clean_leftovers(*process_, *memory_);
  ASSERT_TRUE(cleaned) << cleaned.error().message();
  expect_clean();
  EXPECT_EQ(worker_->finish(), 0);
}

TEST_F(Traps, never_in_the_c_library) {
  start();
  for (const Module& module : modules_) {
    if (module.is_libc()) {
      EXPECT_THAT(no_traps_in(module), HasSubstr("signals blocked"));
    }
  }
}

}  // namespace
}  // namespace blip::probe
