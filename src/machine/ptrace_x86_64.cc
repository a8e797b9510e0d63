// SPDX-License-Identifier: MIT
#include <sys/ptrace.h>

#include <cstddef>

#include "machine/thread_registers.h"

namespace blip::machine {

namespace {

constexpr int kArchPrctl = 30;  // PTRACE_ARCH_PRCTL
constexpr uint64_t kShadowStackStatus = 0x5005;
constexpr uint64_t kShadowStackBit = 1;
constexpr uint64_t kEnableExecute0 = 1;  // DR7: L0, break on execution, length 1

bool poke_debug_register(pid_t tid, size_t number, uint64_t value) {
  const size_t where = offsetof(struct user, u_debugreg) + number * sizeof(long);
  return ::ptrace(PTRACE_POKEUSER, tid, where, value) == 0;
}

}  // namespace

bool read_registers(pid_t tid, ThreadRegisters& into) {
  return ::ptrace(PTRACE_GETREGS, tid, nullptr, static_cast<user_regs_struct*>(&into)) == 0;
}

bool write_registers(pid_t tid, const ThreadRegisters& registers) {
  user_regs_struct raw = registers;
  return ::ptrace(PTRACE_SETREGS, tid, nullptr, &raw) == 0;
}

bool has_shadow_stack(pid_t tid) {
  uint64_t features = 0;
  // PTRACE_ARCH_PRCTL takes the option as data and its argument as address.
  if (::ptrace(static_cast<__ptrace_request>(kArchPrctl), tid, &features, kShadowStackStatus) != 0)
    return false;
  return features & kShadowStackBit;
}

bool set_breakpoint(pid_t tid, uint64_t address) {
  return poke_debug_register(tid, 0, address) && poke_debug_register(tid, 7, kEnableExecute0);
}

bool clear_breakpoint(pid_t tid) { return poke_debug_register(tid, 7, 0); }

}  // namespace blip::machine
