// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace blip::machine {

inline constexpr uint64_t kSyscallLength = 2;  // 0f 05

// General registers, fs_base and gs_base included, with the names of <sys/user.h>. A thread stopped in a system call
// looks like this (arch/x86/kernel/signal.c): rip is behind the `syscall` instruction, orig_rax is the number, rax the
// result.
struct ThreadRegisters : user_regs_struct {
  ThreadRegisters() : user_regs_struct{} {}

  uint64_t pc() const { return rip; }
  void set_pc(uint64_t value) { rip = value; }
  uint64_t sp() const { return rsp; }
  void set_sp(uint64_t value) { rsp = value; }
  uint64_t thread_pointer() const { return fs_base; }
  bool runs_native_code() const { return cs == 0x33; }  // 0x23 is 32-bit code

  bool in_system_call() const { return static_cast<int64_t>(orig_rax) >= 0; }
  uint64_t system_call() const { return orig_rax; }
  // The kernel will neither restart a call nor change a result in this thread.
  void forget_system_call() { orig_rax = static_cast<uint64_t>(-1); }
  int64_t result() const { return static_cast<int64_t>(rax); }
  // The call that a `syscall` instruction at pc() would make.
  uint64_t requested_call() const { return rax; }
  void request_call(uint64_t number) { rax = number; }
  void set_arguments(const std::array<uint64_t, 6>& values) {
    rdi = values[0];
    rsi = values[1];
    rdx = values[2];
    r10 = values[3];
    r8 = values[4];
    r9 = values[5];
  }
  // Before the instruction again, to make call `number`.
  void rewind_to_call(uint64_t number) {
    rip -= kSyscallLength;
    rax = number;
    forget_system_call();
  }
  // Behind the instruction at pc(), in call `number`, as if the kernel had interrupted it with this result.
  void return_from_call(uint64_t number, int64_t value) {
    rip += kSyscallLength;
    rax = static_cast<uint64_t>(value);
    orig_rax = number;
  }

  bool operator==(const ThreadRegisters& other) const {
    const user_regs_struct& mine = *this;
    const user_regs_struct& theirs = other;
    return std::memcmp(&mine, &theirs, sizeof mine) == 0;
  }
};

}  // namespace blip::machine
