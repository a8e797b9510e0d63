// SPDX-License-Identifier: MIT
#include "probe/inject/who_is_inside.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "proc/files/process.h"
#include "proc/test_child.h"

namespace blip::probe {
namespace {

using proc::test::Child;

// Marks for a place that no thread runs by itself.
[[gnu::noinline, gnu::noipa]] void somewhere() { ::getppid(); }

Child* child_in_handler;
void wait_in_handler(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&somewhere);
  child_in_handler->tell(1);
  for (;;) ::pause();
}

void wait_with_handler(Child& self) {
  child_in_handler = &self;
  struct sigaction action {};
  action.sa_sigaction = wait_in_handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGUSR1, &action, nullptr);
  ::raise(SIGUSR1);
}

void just_wait(Child& self) {
  self.tell(1);
  for (;;) ::pause();
}

// A process that waits, stopped.
class Stopped {
 public:
  explicit Stopped(const Child::Body& body)
      : child_(body),
        heard_(child_.hear() && child_.wait_for_state('S')),
        process_(*proc::Process::open(child_.pid())),
        memory_(*proc::Memory::open(child_.pid())),
        attachment_(*proc::Attachment::stop_all(process_)),
        maps_(*proc::read_maps(child_.pid())),
        code_(attachment_, memory_, maps_) {}

  bool heard() const { return heard_; }
  pid_t pid() const { return child_.pid(); }
  StoppedCode& code() { return code_; }

 private:
  Child child_;
  bool heard_;
  proc::Process process_;
  proc::Memory memory_;
  proc::Attachment attachment_;
  std::vector<proc::Map> maps_;
  StoppedCode code_;
};

CodePlaces at(TargetAddr place) {
  return [place](const Standing& s) { return s.pc == place; };
}

TEST(WhoIsInside, nobody) {
  Stopped stopped(just_wait);
  ASSERT_TRUE(stopped.heard());
  EXPECT_FALSE(who_is_inside(stopped.code(), [](const Standing&) { return false; }));
  EXPECT_TRUE(stopped.code().interrupted()->empty());
}

TEST(WhoIsInside, a_thread_that_is_there_leaves_when_it_runs) {
  Stopped stopped(just_wait);
  ASSERT_TRUE(stopped.heard());
  const auto inside = who_is_inside(stopped.code(), at(stopped.code().thread(0).pc));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->tid, stopped.pid());
  EXPECT_FALSE(inside->returns);
}

TEST(WhoIsInside, a_signal_handler_comes_back_who_knows_when) {
  Stopped stopped(wait_with_handler);
  ASSERT_TRUE(stopped.heard());
  const auto inside = who_is_inside(stopped.code(), at(TargetAddr(reinterpret_cast<uint64_t>(&somewhere))));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->tid, stopped.pid());
  EXPECT_TRUE(inside->returns);
}

TEST(WhoIsInside, a_system_call_that_will_be_made_again_counts_where_it_is_made) {
  Stopped stopped(just_wait);
  ASSERT_TRUE(stopped.heard());
  const Standing thread = stopped.code().thread(0);
  EXPECT_LT(thread.goes_on, thread.pc) << "pause() was interrupted by the stop";
  EXPECT_TRUE(who_is_inside(stopped.code(), [&](const Standing& s) { return s.goes_on == thread.goes_on; }));
}

TEST(WhoIsInside, pads_are_areas_and_what_the_vdso_returns_to) {
  Stopped stopped(just_wait);
  ASSERT_TRUE(stopped.heard());
  const TargetAddr pc = stopped.code().thread(0).pc;
  Footprint footprint;
  footprint.areas = {{pc, pc + 1}};
  EXPECT_TRUE(who_is_inside(stopped.code(), pads_of(footprint, stopped.code())));
  footprint.areas = {{pc + 1, pc + 2}};
  EXPECT_FALSE(who_is_inside(stopped.code(), pads_of(footprint, stopped.code())));
}

}  // namespace
}  // namespace blip::probe
