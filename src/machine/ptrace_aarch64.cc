// SPDX-License-Identifier: MIT
#include <asm/ptrace.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "machine/thread_registers.h"

namespace blip::machine {

namespace {

constexpr int kTls = 0x401;          // NT_ARM_TLS
constexpr int kBreakpoints = 0x402;  // NT_ARM_HW_BREAK
constexpr int kSystemCall = 0x404;   // NT_ARM_SYSTEM_CALL
// DBGBCR: all four bytes of the instruction, user mode only, enabled.
constexpr uint32_t kBreakOnInstruction = 0xf << 5 | 0x2 << 1 | 1;

bool read_part(pid_t tid, int kind, void* into, size_t size) {
  iovec part{into, size};
  return ::ptrace(PTRACE_GETREGSET, tid, kind, &part) == 0;
}

bool write_part(pid_t tid, int kind, const void* from, size_t size) {
  iovec part{const_cast<void*>(from), size};
  return ::ptrace(PTRACE_SETREGSET, tid, kind, &part) == 0;
}

bool write_breakpoint(pid_t tid, uint64_t address, uint32_t control) {
  user_hwdebug_state state{};
  state.dbg_regs[0].addr = address;
  state.dbg_regs[0].ctrl = control;
  return write_part(tid, kBreakpoints, &state,
                    offsetof(user_hwdebug_state, dbg_regs) + sizeof state.dbg_regs[0]);
}

}  // namespace

bool read_registers(pid_t tid, ThreadRegisters& into) {
  return read_part(tid, NT_PRSTATUS, static_cast<user_regs_struct*>(&into), sizeof(user_regs_struct)) &&
         read_part(tid, kTls, &into.tpidr, sizeof into.tpidr) &&
         read_part(tid, kSystemCall, &into.call, sizeof into.call);
}

bool write_registers(pid_t tid, const ThreadRegisters& registers) {
  return write_part(tid, NT_PRSTATUS, static_cast<const user_regs_struct*>(&registers),
                    sizeof(user_regs_struct)) &&
         write_part(tid, kTls, &registers.tpidr, sizeof registers.tpidr) &&
         write_part(tid, kSystemCall, &registers.call, sizeof registers.call);
}

// Linux gives AArch64 threads such a stack (GCS) since 6.13; blip does not know it yet.
bool has_shadow_stack(pid_t) { return false; }

bool set_breakpoint(pid_t tid, uint64_t address) {
  return write_breakpoint(tid, address, kBreakOnInstruction);
}
bool clear_breakpoint(pid_t tid) { return write_breakpoint(tid, 0, 0); }

}  // namespace blip::machine
