// SPDX-License-Identifier: MIT
// Calls that are found, while all threads stand still, to be made unseen.
#include "probe/arm/watched_calls.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <thread>

#include "probe/arm/instrumentation.h"
#include "probe/code/module.h"
#include "probe/code/watched_syscalls.h"
#include "proc/test_child.h"
#include "proc/test_filter.h"

namespace blip::probe {
namespace {

using proc::test::Child;
using proc::test::nap;

// A process whose bytes a test changes.
struct Target {
  explicit Target(pid_t pid) : process(*proc::Process::open(pid)), memory(*proc::Memory::open(pid)) {
    modules = std::move(load_modules(process, memory, *proc::read_maps(pid))->modules);
  }

  TargetAddr filter_site(uint32_t number) const {
    for (const x86::SyscallSite& site : find_filter_sites(modules).sites)
      if (site.number == number) return site.addr;
    return {};
  }

  // Without a probe: pads that come later may ask the kernel.
  Result<std::unique_ptr<Instrumentation>> arm() {
    const abi::Geometry geometry{.class_count = abi::kFirstClass + 1,
                                 .subbuf_count = 2,
                                 .subbuf_size = 4096,
                                 .slot_size = 64,
                                 .slot_count = 64};
    return Instrumentation::arm(process, memory, modules, ModuleSites(modules.size()), {},
                                {.geometry = geometry,
                                 .modules_complete = true,
                                 .follow_fork = true,
                                 .spare_probes = 1,
                                 .spares_ask_kernel = true});
  }

  proc::Process process;
  proc::Memory memory;
  std::vector<Module> modules;
};

const abi::DataHeader& header_of(const Instrumentation& i) {
  return *reinterpret_cast<const abi::DataHeader*>(i.region());
}

void sleep_forever(Child& self) {
  self.tell(1);
  for (;;) nap(1000);
}

// Another tool's breakpoint on prctl(): found when the jumps are written, after the pads have been built.
TEST(UnseenFilter, is_told_to_the_children_of_forks) {
  Child child(sleep_forever);
  ASSERT_TRUE(child.hear());
  Target target(child.pid());
  const TargetAddr prctl = target.filter_site(SYS_prctl);
  ASSERT_NE(prctl, TargetAddr());
  const std::array<uint8_t, 1> breakpoint{0xcc};
  ASSERT_TRUE(target.memory.write(prctl, breakpoint));
  auto armed = target.arm();
  ASSERT_TRUE(armed) << armed.error().message();
  EXPECT_NE((*armed)->no_calls(), "");
  EXPECT_EQ(header_of(**armed).filtered, 1u);
  EXPECT_EQ(header_of(**armed).unannounced_gate, abi::kGateClosed);
}

// The `syscall` instruction of a function of the C library.
template <typename Function>
uint64_t instruction_of(Function* function) {
  const auto* at = reinterpret_cast<const uint8_t*>(function);
  while (at[0] != 0x0f || at[1] != 0x05) ++at;
  return reinterpret_cast<uint64_t>(at);
}

// In a signal handler that will return to an instruction.
volatile uint64_t interrupted_at;
Child* child_with_handler;
void wait_in_handler(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = static_cast<greg_t>(interrupted_at);
  sleep_forever(*child_with_handler);
}

std::string no_calls_before(uint64_t instruction) {
  Child child([instruction](Child& self) {
    interrupted_at = instruction;
    child_with_handler = &self;
    struct sigaction action {};
    action.sa_sigaction = wait_in_handler;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGUSR1, &action, nullptr);
    ::raise(SIGUSR1);
  });
  EXPECT_TRUE(child.hear());
  Target target(child.pid());
  auto armed = target.arm();
  EXPECT_TRUE(armed);
  return armed ? (*armed)->no_calls() : "";
}

TEST(UnseenFilter, that_a_signal_handler_will_return_to) {
  if (no_calls_before(instruction_of(&::getppid)) != "")
    GTEST_SKIP() << "other code of this program may install filters";
  EXPECT_NE(no_calls_before(instruction_of(&::prctl)), "");
}

// On a stack of its own, as fibers are; saved registers of another lie in its memory.
[[noreturn]] void wait_as_fiber(uint64_t* stack) {
  constexpr long kPause = 34;
  asm volatile("mov %0, %%rsp; 1: mov %1, %%eax; syscall; jmp 1b" : : "r"(stack), "i"(kPause));
  __builtin_unreachable();
}

TEST(UnseenFilter, that_a_fiber_will_go_on_with) {
  constexpr size_t kStackTop = 4096, kSaved = 5000;
  Child child([](Child& self) {
    auto* words = static_cast<uint64_t*>(
        ::mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    words[kSaved] = instruction_of(&::syscall);
    words[kSaved + 1] = 0x246;
    words[kSaved + 2] = 0x33;
    self.tell(1);
    wait_as_fiber(words + kStackTop);
  });
  ASSERT_TRUE(child.hear());
  ASSERT_TRUE(child.wait_for_state('S'));
  Target target(child.pid());
  auto armed = target.arm();
  ASSERT_TRUE(armed) << armed.error().message();
  EXPECT_NE((*armed)->no_calls(), "");
}

// One of very many threads.
TEST(UnseenFilter, of_the_last_thread) {
  Child child([](Child& self) {
    for (int i = 0; i < 300; ++i) std::thread([] { nap(1'000'000); }).detach();
    std::thread([&self] {
      self.tell(proc::test::install_filter());
      nap(1'000'000);
    }).detach();
    nap(1'000'000);
  });
  ASSERT_EQ(child.hear(), 1);
  auto process = proc::Process::open(child.pid());
  ASSERT_TRUE(process) << process.error().message();
  auto attachment = proc::Attachment::stop_all(*process);
  ASSERT_TRUE(attachment) << attachment.error().message();
  EXPECT_TRUE(any_filtered(*attachment));
}

}  // namespace
}  // namespace blip::probe
