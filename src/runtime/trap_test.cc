// SPDX-License-Identifier: MIT
// The trap handler in this very process: the blob in executable memory, a stub as blip makes one, traps in a
// page of code.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "abi/traps.h"
#include "base/check.h"
#include "base/mapping.h"
#include "runtime/blob.h"

namespace blip::runtime {
namespace {

constexpr uint64_t kAllSignals = ~uint64_t{0};
constexpr uint64_t kRestorer = 0x04000000;
constexpr uint64_t kOwnFlags = SA_SIGINFO | kRestorer;
constexpr uint64_t kUsr1 = uint64_t{1} << (SIGUSR1 - 1);
constexpr uint64_t kTrapBit = uint64_t{1} << (SIGTRAP - 1);

// Code of the page: a trap of blip's and its pad, and a trap of the program's own.
constexpr uint8_t kCode[] = {
    0xcc, 0x90, 0xc3,                    // 0: int3; nop; ret
    0xb8, 0x07, 0x00, 0x00, 0x00, 0xc3,  // 3: mov $7, %eax; ret
    0xcc, 0xb8, 0x09, 0x00, 0x00, 0x00,  // 9: int3; mov $9, %eax
    0xc3,                                // 15: ret
};
constexpr size_t kPad = 3;
constexpr size_t kOwnTrap = 9;

Mapping executable(std::span<const uint8_t> bytes) {
  auto mapping = Mapping::create(bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapping.has_value());
  std::memcpy(mapping->data(), bytes.data(), bytes.size());
  CHECK(::mprotect(mapping->data(), mapping->size(), PROT_READ | PROT_EXEC) == 0);
  return *std::move(mapping);
}

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

long kernel_action(const abi::SignalAction* act, abi::SignalAction* old) {
  return ::syscall(SYS_rt_sigaction, SIGTRAP, act, old, sizeof(uint64_t));
}

uint64_t blocked_now() {
  uint64_t mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

// The arguments that the program's handler saw.
struct Seen {
  int calls;
  int signal;
  int code;
  uint64_t pc;
  uint64_t blocked;
};
Seen seen;

void on_signal(int signal, siginfo_t* info, void* context) {
  ++seen.calls;
  seen.signal = signal;
  seen.code = info->si_code;
  seen.pc = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  seen.blocked = blocked_now();
}

class Trap : public testing::Test {
 protected:
  Trap() : blob_(executable(runtime_blob())), code_(executable(kCode)) {
    std::vector<uint8_t> stub = {0x48, 0xb9};  // mov $table, %rcx
    append(stub, address(&table_));
    stub.insert(stub.end(), {0x48, 0xb8});  // mov $handler, %rax
    append(stub, address(blob_.data() + kTrapOffset));
    stub.insert(stub.end(), {0xff, 0xe0});  // jmp *%rax
    stub_ = executable(stub);
    entries_[0] = {address(code_.data()), address(code_.data() + kPad)};
    table_.entries_addr = address(entries_);
    table_.entry_count = 1;
    table_.pid_addr = address(&pid_);
    table_.own = {address(stub_.data()), kOwnFlags, address(blob_.data() + kRestoreOffset), kAllSignals};
    CHECK(kernel_action(&table_.own, &before_) == 0);
    seen = {};
  }
  ~Trap() override { kernel_action(&before_, nullptr); }

  static void append(std::vector<uint8_t>& to, uint64_t value) {
    for (int i = 0; i < 8; ++i) to.push_back(static_cast<uint8_t>(value >> 8 * i));
  }

  int call(size_t offset) const { return reinterpret_cast<int (*)()>(code_.data() + offset)(); }

  // As the pad of a probed rt_sigaction does it.
  long set_action(const void* act, void* old, uint64_t size = 8) {
    long result = 0;
    register uint64_t r10 asm("r10") = size;
    uint64_t table = address(&table_);
    asm volatile("sub $128, %%rsp\n call *%[code]\n add $128, %%rsp"
                 : "=a"(result), "+c"(table)
                 : [code] "r"(blob_.data() + kSetActionOffset), "S"(act), "d"(old), "r"(r10)
                 : "r11", "memory");
    return result;
  }

  // A handler as libc would ask for it: with its own restorer.
  void ask_for(void (*handler)(int, siginfo_t*, void*), uint64_t flags = SA_SIGINFO, uint64_t mask = 0) {
    struct sigaction libc {};
    libc.sa_sigaction = on_signal;
    ::sigaction(SIGUSR2, &libc, nullptr);
    abi::SignalAction known;
    CHECK(::syscall(SYS_rt_sigaction, SIGUSR2, nullptr, &known, 8) == 0);
    const abi::SignalAction act{address(reinterpret_cast<void*>(handler)), flags | kRestorer, known.restorer,
                                mask};
    ASSERT_EQ(set_action(&act, nullptr), 0);
  }

  Mapping blob_;
  Mapping code_;
  Mapping stub_;
  abi::TrapTable table_{};
  abi::TrapEntry entries_[1];
  int32_t pid_ = 0;
  abi::SignalAction before_{};
};

TEST_F(Trap, goes_on_in_its_pad) {
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(call(0), 7);
  EXPECT_EQ(blocked_now() & kTrapBit, 0u);
}

TEST_F(Trap, of_the_program_reaches_its_handler) {
  ask_for(on_signal);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.signal, SIGTRAP);
  EXPECT_EQ(seen.code, SI_KERNEL);
  EXPECT_EQ(seen.pc, address(code_.data() + kOwnTrap + 1));
  EXPECT_EQ(seen.blocked & kTrapBit, 0u);  // it may meet a trap of blip's
  EXPECT_EQ(blocked_now() & kTrapBit, 0u);
  EXPECT_EQ(call(0), 7);
  EXPECT_EQ(seen.calls, 1);
}

TEST_F(Trap, the_handlers_mask_is_what_it_asked_for) {
  ask_for(on_signal, SA_SIGINFO | SA_NODEFER, kUsr1);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(seen.blocked, blocked_now() | kUsr1);
}

void trap_again(int, siginfo_t*, void* context) {
  ++seen.calls;
  // The table's only entry is the first byte of the page that the trap came from.
  const auto pc = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  seen.code = reinterpret_cast<int (*)()>(pc - 1 - kOwnTrap)();
}

TEST_F(Trap, in_a_handler_that_does_not_block_it) {
  ask_for(trap_again, SA_SIGINFO | SA_NODEFER);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(seen.code, 7);
}

TEST_F(Trap, in_a_handler_that_wants_to_block_it) {
  ask_for(trap_again, SA_SIGINFO, kTrapBit);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(seen.code, 7);
}

TEST_F(Trap, a_signal_sent_is_no_trap) {
  ask_for(on_signal);
  ::raise(SIGTRAP);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.code, SI_TKILL);
}

TEST_F(Trap, single_steps_reach_the_handler) {
  ask_for(on_signal);
  asm volatile(
      "pushfq\n orq $0x100, (%%rsp)\n popfq\n"
      "nop\n"
      "pushfq\n andq $~0x100, (%%rsp)\n popfq\n" ::
          : "cc", "memory");
  EXPECT_GE(seen.calls, 3);
  EXPECT_EQ(seen.code, TRAP_TRACE);
  EXPECT_EQ(call(0), 7);
}

TEST_F(Trap, a_handler_for_one_signal_only) {
  ask_for(on_signal, SA_SIGINFO | SA_RESETHAND);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(call(0), 7);
  EXPECT_EXIT(call(kOwnTrap), testing::KilledBySignal(SIGTRAP), "");
}

TEST_F(Trap, by_default_the_process_dies_of_it) {
  EXPECT_EXIT(call(kOwnTrap), testing::KilledBySignal(SIGTRAP), "");
  EXPECT_EXIT(::raise(SIGTRAP), testing::KilledBySignal(SIGTRAP), "");
}

TEST_F(Trap, ignored_only_if_it_was_sent) {
  const abi::SignalAction ignore{1, 0, 0, 0};
  ASSERT_EQ(set_action(&ignore, nullptr), 0);
  ::raise(SIGTRAP);
  EXPECT_EQ(call(0), 7);
  EXPECT_EXIT(call(kOwnTrap), testing::KilledBySignal(SIGTRAP), "");
}

TEST_F(Trap, actions_are_told_as_the_kernel_would) {
  abi::SignalAction old{1, 2, 3, 4};
  EXPECT_EQ(set_action(nullptr, &old), 0);
  EXPECT_EQ(old.handler, 0u);
  const abi::SignalAction act{0x1000, SA_SIGINFO | SA_ONSTACK, 0x2000, kAllSignals};
  EXPECT_EQ(set_action(&act, &old), 0);
  EXPECT_EQ(old.handler, 0u);
  EXPECT_EQ(set_action(nullptr, &old), 0);
  EXPECT_EQ(old.handler, 0x1000u);
  EXPECT_EQ(old.flags, act.flags);
  EXPECT_EQ(old.mask & (uint64_t{1} << (SIGKILL - 1)), 0u);
  EXPECT_EQ(set_action(reinterpret_cast<void*>(8), nullptr), -EFAULT);
  EXPECT_EQ(set_action(nullptr, reinterpret_cast<void*>(8)), -EFAULT);
  EXPECT_EQ(set_action(&act, nullptr, 4), -EINVAL);
  abi::SignalAction kernel{};
  kernel_action(nullptr, &kernel);
  EXPECT_EQ(kernel.handler, table_.own.handler);
  EXPECT_EQ(kernel.flags & SA_ONSTACK, uint64_t{SA_ONSTACK});
}

TEST_F(Trap, a_child_in_the_same_memory_changes_nothing) {
  ask_for(on_signal);
  pid_ = ::getpid() + 1;
  const abi::SignalAction act{};
  EXPECT_EQ(set_action(&act, nullptr), 0);
  EXPECT_EQ(call(kOwnTrap), 9);
  EXPECT_EQ(seen.calls, 1);
}

TEST_F(Trap, in_many_threads_while_actions_change) {
  ask_for(on_signal);
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i)
        if (call(0) != 7 || call(kOwnTrap) != 9) ++wrong;
    });
  }
  std::thread changer([&] {
    while (!stop) ask_for(on_signal, stop ? SA_SIGINFO : SA_SIGINFO | SA_NODEFER);
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  changer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace blip::runtime
