// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace blip::machine {

inline constexpr uint64_t kSyscallLength = 4;  // svc #0

// General registers with the names of <sys/user.h>, the thread pointer (NT_ARM_TLS) and the number of the system call
// (NT_ARM_SYSTEM_CALL). The kernel (arch/arm64/kernel/signal.c) takes a call that it will restart back to its
// instruction, with the first argument in x0 again, before the thread stops.
struct ThreadRegisters : user_regs_struct {
  static constexpr size_t kResult = 0, kNumber = 8;

  ThreadRegisters() : user_regs_struct{} {}

  uint64_t pc() const { return user_regs_struct::pc; }
  void set_pc(uint64_t value) { user_regs_struct::pc = value; }
  uint64_t sp() const { return user_regs_struct::sp; }
  void set_sp(uint64_t value) { user_regs_struct::sp = value; }
  uint64_t thread_pointer() const { return tpidr; }
  bool runs_native_code() const { return (pstate & 0x10) == 0; }  // set: 32-bit code

  bool in_system_call() const { return call >= 0; }
  uint64_t system_call() const { return static_cast<uint64_t>(call); }
  // The kernel will neither restart a call nor change a result in this thread.
  void forget_system_call() { call = -1; }
  int64_t result() const { return static_cast<int64_t>(regs[kResult]); }
  // The call that an `svc` instruction at pc() would make.
  uint64_t requested_call() const { return regs[kNumber]; }
  void request_call(uint64_t number) { regs[kNumber] = number; }
  void set_arguments(const std::array<uint64_t, 6>& values) {
    std::memcpy(regs, values.data(), sizeof values);
  }
  // Before the instruction again, to make call `number`.
  void rewind_to_call(uint64_t number) {
    user_regs_struct::pc -= kSyscallLength;
    regs[kNumber] = number;
    forget_system_call();
  }
  // Behind the instruction at pc(), in call `number`, as if the kernel had interrupted it with this result.
  void return_from_call(uint64_t number, int64_t value) {
    user_regs_struct::pc += kSyscallLength;
    regs[kResult] = static_cast<uint64_t>(value);
    call = static_cast<int32_t>(number);
  }

  bool operator==(const ThreadRegisters& other) const {
    const user_regs_struct& mine = *this;
    const user_regs_struct& theirs = other;
    return std::memcmp(&mine, &theirs, sizeof mine) == 0 && tpidr == other.tpidr && call == other.call;
  }

  uint64_t tpidr = 0;
  int32_t call = -1;
};

}  // namespace blip::machine
