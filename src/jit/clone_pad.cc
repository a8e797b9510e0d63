// SPDX-License-Identifier: MIT
// Stands in for a system call that makes a process or a thread.
#include <sched.h>
#include <sys/syscall.h>

#include <functional>

#include "jit/assembler.h"
#include "jit/section.h"
#include "jit/stubs.h"
#include "ring/system_calls.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

void emit_gate_add(Assembler& a, const Environment& env, int32_t n) {
  a.mov(rcx, env.gate().value + offsetof(abi::GatePage, gate));
  a.lock().add(dword_ptr(rcx), n);
}

// A child on its parent's thread pointer: the gate is held until the parent is back.
void emit_tls_sharing_call(Assembler& a, const Environment& env, uint32_t number, asmjit::Label out,
                           const std::function<void()>& load_flags) {
  asmjit::Label lower = a.newLabel();
  emit_gate_add(a, env, abi::kGateChild);
  a.mov(eax, number);
  a.syscall();
  a.test(rax, rax);
  a.jz(out);  // the child: its parent lowers the gate
  if (load_flags) {
    a.js(lower);  // no child
    load_flags();
    a.test(ecx, CLONE_VFORK);
    a.jz(out);  // the child lives on beside its parent: the gate stays
  }
  a.bind(lower);
  emit_gate_add(a, env, -static_cast<int32_t>(abi::kGateChild));
  a.jmp(out);
}

// A thread with a thread pointer of its own. libc may reuse the memory of one that ended, and with it a
// cpu_id that makes the new thread look registered before it is.
void emit_new_thread_call(Assembler& a, const Environment& env, uint32_t number, asmjit::Label out) {
  constexpr int32_t kUninitialized = -1;  // RSEQ_CPU_ID_UNINITIALIZED
  a.mov(eax, number);
  a.syscall();
  a.test(rax, rax);
  a.jnz(out);
  if (env.rseq) a.mov(thread_memory(env.rseq->offset + kRseqCpuId, 4), kUninitialized);
  a.jmp(out);
}

// The child's own pid into eax. libc has the kernel put it into the thread (CLONE_CHILD_SETTID); asking costs
// a system call, which a filter that came after blip may not like.
void emit_child_pid(Assembler& a, const Environment& env, const std::function<void()>& load_flags) {
  asmjit::Label ask = a.newLabel(), known = a.newLabel();
  if (env.tid_offset && load_flags) {
    load_flags();
    a.test(ecx, CLONE_CHILD_SETTID);
    a.jz(ask);
  }
  if (env.tid_offset && (load_flags || env.no_syscalls)) {
    a.mov(eax, thread_memory(*env.tid_offset, 4));
    a.jmp(known);
  }
  a.bind(ask);
  if (!env.no_syscalls) {  // and no filter came since
    a.mov(rcx, env.control.value + offsetof(abi::DataHeader, filtered));
    a.xor_(eax, eax);
    a.cmp(dword_ptr(rcx), ring::kFiltered);
    a.je(known);
    a.mov(eax, SYS_getpid);
    a.syscall();
  }
  a.bind(known);
}

// What a fork's child stores into its gate page, which it finds wiped, so that its hits are recorded under
// its own pid.
void emit_describe_child(Assembler& a, const Environment& env, uint32_t gate,
                         const std::function<void()>& load_flags) {
  const auto member = [](size_t offset) { return dword_ptr(rcx, static_cast<int32_t>(offset)); };
  emit_child_pid(a, env, load_flags);
  a.mov(rcx, env.gate().value);
  a.mov(member(offsetof(abi::GatePage, pid)), eax);
  a.mov(member(offsetof(abi::GatePage, tid_offset)), env.tid_offset.value_or(abi::kNoTidOffset));
  if (env.no_syscalls || !env.asks_kernel) {
    a.mov(member(offsetof(abi::GatePage, no_syscalls)), 1);
  } else {  // the parent may have got a filter since
    a.mov(eax, dword_ptr(rcx, int32_t{abi::kGatePageSize} + int32_t{offsetof(abi::DataHeader, filtered)}));
    a.mov(member(offsetof(abi::GatePage, no_syscalls)), eax);
  }
  a.mov(member(offsetof(abi::GatePage, gate)), gate);
  a.xor_(eax, eax);
}

void emit_fork_with_gate(Assembler& a, const Environment& env, uint32_t number, uint32_t gate,
                         asmjit::Label out, const std::function<void()>& load_flags) {
  a.mov(eax, number);
  a.syscall();
  a.test(rax, rax);
  a.jnz(out);
  if (gate == abi::kGateIgnored) {
    a.mov(rcx, env.gate().value + offsetof(abi::GatePage, gate));
    a.mov(dword_ptr(rcx), gate);
  } else {
    emit_describe_child(a, env, gate, load_flags);
  }
  a.jmp(out);
}

// The child has its parent's thread pointer and registration for restartable sequences. Not so if the parent
// is itself a child on somebody's thread pointer, which a raised gate tells: then the gate stays raised.
void emit_fork_call(Assembler& a, const Environment& env, uint32_t number, asmjit::Label out,
                    const std::function<void()>& load_flags) {
  if (!env.follow_fork) {
    emit_fork_with_gate(a, env, number, abi::kGateIgnored, out, load_flags);
    return;
  }
  asmjit::Label raised = a.newLabel();
  a.mov(rcx, env.gate().value + offsetof(abi::GatePage, gate));
  a.cmp(dword_ptr(rcx), abi::kGateOpen);
  a.jne(raised);
  emit_fork_with_gate(a, env, number, abi::kGateOpen, out, load_flags);
  a.bind(raised);
  emit_fork_with_gate(a, env, number, abi::kGateOpen | abi::kGateChild, out, load_flags);
}

// Flags of clone are in rdi. clone3's are the first member of the struct rdi points to, which only the kernel
// may find out to be no struct: what cannot be one is not looked at.
void emit_load_flags(Assembler& a, uint32_t number) {
  if (number == SYS_clone3) {
    a.mov(ecx, dword_ptr(rdi));
  } else {
    a.mov(ecx, edi);
  }
}

void emit_unless_struct(Assembler& a, asmjit::Label plain) {
  constexpr uint32_t kLowestAddress = 0x10000;
  constexpr uint32_t kSmallestStruct = 64;  // CLONE_ARGS_SIZE_VER0
  a.cmp(rdi, kLowestAddress);
  a.jb(plain);
  a.cmp(rsi, kSmallestStruct);
  a.jb(plain);
}

}  // namespace

Result<std::vector<uint8_t>> build_clone_pad(TargetAddr at, TargetAddr site, uint32_t number,
                                             const Environment& env) {
  CodeBuffer code(at);
  auto& a = code.assembler();
  asmjit::Label forks = a.newLabel(), plain = a.newLabel(), shares = a.newLabel(), out = a.newLabel();
  if (number == SYS_vfork) {
    emit_tls_sharing_call(a, env, number, out, {});
  } else if (number == SYS_fork) {
    emit_fork_call(a, env, number, out, {});
  } else {
    const auto load_flags = [&] { emit_load_flags(a, number); };
    if (number == SYS_clone3) emit_unless_struct(a, plain);
    load_flags();
    a.test(ecx, CLONE_VM);
    a.jz(forks);
    a.test(ecx, CLONE_SETTLS);
    a.jz(shares);
    emit_new_thread_call(a, env, number, out);
    a.bind(shares);
    emit_tls_sharing_call(a, env, number, out, load_flags);
    a.bind(forks);
    a.test(ecx, CLONE_SETTLS);  // a child whose registration is elsewhere: its gate stays closed
    a.jnz(plain);
    emit_fork_call(a, env, number, out, load_flags);
    a.bind(plain);
    a.mov(eax, number);
    a.syscall();
  }
  a.bind(out);
  a.jmp(site.value + kCloneSiteSize);
  return code.finish();
}

}  // namespace blip::jit
