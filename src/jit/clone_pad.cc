// SPDX-License-Identifier: MIT
// Stands in for a system call that makes a process or a thread.
#include <sched.h>
#include <sys/syscall.h>

#include <functional>

#include "jit/emit/assembler.h"
#include "jit/emit/section.h"
#include "jit/stubs.h"
#include "ring/system_calls.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kRedZone = 128;

int32_t in_gate_page(size_t member) { return static_cast<int32_t>(member); }

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

class ClonePad {
 public:
  ClonePad(Assembler& a, const Environment& env, uint32_t number, TargetAddr reserve)
      : a_(a),
        env_(env.process),
        channels_(env.channels),
        number_(number),
        reserve_(reserve),
        out_(a.newLabel()) {}

  void emit(TargetAddr back) {
    if (number_ == SYS_vfork) {
      tls_sharing_call(Birth::kProcess);
    } else if (number_ == SYS_fork) {
      fork_call();
    } else {
      clone_call();
    }
    a_.bind(out_);
    a_.jmp(back.value);
  }

 private:
  enum class Birth { kThread, kProcess };

  bool has_flags() const { return number_ == SYS_clone || number_ == SYS_clone3; }
  void load_flags() { emit_load_flags(a_, number_); }
  void call() {
    a_.mov(eax, number_);
    a_.syscall();
  }

  void clone_call();
  void by_birth(void (ClonePad::*make)(Birth));
  void gate_add(int32_t n);
  void tls_sharing_call(Birth birth);
  void new_thread_call(Birth birth);
  void fork_call();
  void fork_with_gate(uint32_t gate);
  void told_fork_call();
  void describe_child();
  void child_pid();
  void own_tid();
  void store_birth(Birth birth, const std::function<void()>& load_tid, const Mem& parent);

  Assembler& a_;
  const ProcessEnvironment& env_;
  const std::vector<ChannelEnvironment>& channels_;
  uint32_t number_;
  TargetAddr reserve_;
  asmjit::Label out_;
};

void ClonePad::gate_add(int32_t n) {
  a_.mov(rcx, env_.gate().value + offsetof(abi::GatePage, gate));
  a_.lock().add(dword_ptr(rcx), n);
}

// Who is born says so before it does anything else, in the shared ring: a new thread has not registered for
// restartable sequences, a child of vfork shares its parent's registration. Changes rax, rcx and r11, and the
// stack below the red zone. `load_tid`: into ecx, which the runtime has put there already; `parent`: of 4
// bytes, kSharesMemory or, where it is on the stack, as seen with one word pushed.
void ClonePad::store_birth(Birth birth, const std::function<void()>& load_tid, const Mem& parent) {
  asmjit::Label none = a_.newLabel();
  const Births& births = *env_.births;
  a_.push(rdx);
  a_.mov(rcx, channels_[births.channel].control.value);
  a_.mov(eax, birth == Birth::kThread ? births.thread_class : births.process_class);
  a_.call(reserve_.value);
  a_.test(rdx, rdx);
  a_.jz(none);  // counted as discarded or skipped
  a_.shr(rcx, 32);
  if (load_tid) load_tid();
  a_.mov(dword_ptr(rdx, kLifeTid), ecx);
  if (parent.hasBase())
    a_.movsxd(rax, parent);
  else
    a_.mov(rax, kSharesMemory);
  a_.mov(qword_ptr(rdx, kLifeValue), rax);
  a_.add(qword_ptr(rdx, -8), abi::kSlotFull - abi::kSlotBusy);
  a_.bind(none);
  a_.pop(rdx);
}

// A child on its parent's thread pointer: the gate is held until the parent is back.
void ClonePad::tls_sharing_call(Birth birth) {
  asmjit::Label lower = a_.newLabel(), child = a_.newLabel();
  gate_add(abi::kGateChild);
  call();
  a_.test(rax, rax);
  a_.jz(env_.births ? child : out_);  // the child: its parent lowers the gate
  if (has_flags()) {
    a_.js(lower);  // no child
    load_flags();
    a_.test(ecx, CLONE_VFORK);
    a_.jz(out_);  // the child lives on beside its parent: the gate stays
  }
  a_.bind(lower);
  gate_add(-static_cast<int32_t>(abi::kGateChild));
  a_.jmp(out_);
  if (!env_.births) return;
  a_.bind(child);
  a_.lea(rsp, ptr(rsp, -kRedZone));
  store_birth(birth, {}, Mem());
  a_.lea(rsp, ptr(rsp, kRedZone));
  a_.xor_(eax, eax);
  a_.jmp(out_);
}

// Puts the kernel's name of this thread into eax; 0 if the kernel may not be asked.
void ClonePad::own_tid() {
  asmjit::Label forbidden = a_.newLabel();
  if (env_.no_syscalls) {
    a_.xor_(eax, eax);
    return;
  }
  a_.mov(rcx, env_.gate().value);
  a_.lock().inc(dword_ptr(rcx, in_gate_page(offsetof(abi::GatePage, calls))));
  a_.xor_(eax, eax);
  a_.cmp(dword_ptr(rcx, in_gate_page(offsetof(abi::GatePage, no_syscalls))), 0);
  a_.jne(forbidden);
  a_.mov(eax, SYS_gettid);
  a_.syscall();
  a_.mov(rcx, env_.gate().value);
  a_.bind(forbidden);
  a_.lock().dec(dword_ptr(rcx, in_gate_page(offsetof(abi::GatePage, calls))));
}

// A thread with a thread pointer of its own. libc may reuse the memory of one that ended, and with it a
// cpu_id that makes the new thread look registered before it is.
void ClonePad::new_thread_call(Birth birth) {
  constexpr int32_t kUninitialized = -1;  // RSEQ_CPU_ID_UNINITIALIZED
  call();
  a_.test(rax, rax);
  a_.jnz(out_);
  if (env_.rseq) a_.mov(thread_memory(env_.rseq->offset + kRseqCpuId, 4), kUninitialized);
  if (env_.births) {
    a_.lea(rsp, ptr(rsp, -kRedZone));
    own_tid();
    a_.push(rax);
    store_birth(
        birth,
        [&] {  // what the kernel says, or what libc has made it write
          a_.cmp(dword_ptr(rsp, 8), 0);
          a_.cmovne(ecx, dword_ptr(rsp, 8));
        },
        Mem());
    a_.lea(rsp, ptr(rsp, kRedZone + 8));
    a_.xor_(eax, eax);
  }
  a_.jmp(out_);
}

// The child's own pid into eax. libc has the kernel put it into the thread (CLONE_CHILD_SETTID); asking costs
// a system call, which a filter that came after blip may not like.
void ClonePad::child_pid() {
  asmjit::Label ask = a_.newLabel(), known = a_.newLabel();
  if (env_.tid_offset && has_flags()) {
    load_flags();
    a_.test(ecx, CLONE_CHILD_SETTID);
    a_.jz(ask);
  }
  if (env_.tid_offset && (has_flags() || env_.no_syscalls)) {
    a_.mov(eax, thread_memory(*env_.tid_offset, 4));
    a_.jmp(known);
  }
  a_.bind(ask);
  if (!env_.no_syscalls) {  // and no filter came since
    a_.mov(rcx, env_.control.value + offsetof(abi::DataHeader, filtered));
    a_.xor_(eax, eax);
    a_.cmp(dword_ptr(rcx), ring::kFiltered);
    a_.je(known);
    a_.mov(eax, SYS_getpid);
    a_.syscall();
  }
  a_.bind(known);
}

// Lets a fork's child store into its gate page, which it finds wiped, so that its hits are recorded under its
// own pid; all but the gate. Leaves the page's address in rcx.
void ClonePad::describe_child() {
  const auto member = [](size_t offset) { return dword_ptr(rcx, in_gate_page(offset)); };
  child_pid();
  a_.mov(rcx, env_.gate().value);
  a_.mov(member(offsetof(abi::GatePage, pid)), eax);
  a_.mov(member(offsetof(abi::GatePage, tid_offset)), env_.tid_offset.value_or(abi::kNoTidOffset));
  if (env_.no_syscalls || !env_.asks_kernel) {
    a_.mov(member(offsetof(abi::GatePage, no_syscalls)), 1);
  } else {  // the parent may have got a filter since
    a_.mov(eax, dword_ptr(rcx, int32_t{abi::kGatePageSize} + int32_t{offsetof(abi::DataHeader, filtered)}));
    a_.mov(member(offsetof(abi::GatePage, no_syscalls)), eax);
  }
}

void ClonePad::fork_with_gate(uint32_t gate) {
  call();
  a_.test(rax, rax);
  a_.jnz(out_);
  if (gate == abi::kGateIgnored) {
    a_.mov(rcx, env_.gate().value + offsetof(abi::GatePage, gate));
    a_.mov(dword_ptr(rcx), gate);
  } else {
    describe_child();
    a_.mov(dword_ptr(rcx, in_gate_page(offsetof(abi::GatePage, gate))), gate);
    a_.xor_(eax, eax);
  }
  a_.jmp(out_);
}

// The child has its parent's thread pointer and registration for restartable sequences. Not so if the parent
// is itself a child on somebody's thread pointer, which a raised gate tells: then the gate stays raised.
void ClonePad::fork_call() {
  if (!env_.follow_fork) {
    fork_with_gate(abi::kGateIgnored);
    return;
  }
  if (env_.births) {
    told_fork_call();
    return;
  }
  asmjit::Label raised = a_.newLabel();
  a_.mov(rcx, env_.gate().value + offsetof(abi::GatePage, gate));
  a_.cmp(dword_ptr(rcx), abi::kGateOpen);
  a_.jne(raised);
  fork_with_gate(abi::kGateOpen);
  a_.bind(raised);
  fork_with_gate(abi::kGateOpen | abi::kGateChild);
}

// The same where the child is to say who its parent is: gate and pid of the parent are kept on the stack,
// of which the child has a copy. With a stack of its own it knows neither: its gate is raised to be safe.
void ClonePad::told_fork_call() {
  static_assert(offsetof(abi::GatePage, gate) == 0 && offsetof(abi::GatePage, pid) == 4);
  constexpr int32_t kStackMember = 40;  // of struct clone_args
  asmjit::Label elsewhere = a_.newLabel(), parent = a_.newLabel(), child = a_.newLabel(),
                lowered = a_.newLabel();
  if (number_ == SYS_clone) a_.test(rsi, rsi);
  if (number_ == SYS_clone3) a_.cmp(qword_ptr(rdi, kStackMember), 0);
  if (has_flags()) a_.jne(elsewhere);
  a_.lea(rsp, ptr(rsp, -kRedZone));
  a_.mov(rcx, env_.gate().value);
  a_.push(qword_ptr(rcx));
  call();
  a_.test(rax, rax);
  a_.jnz(parent);
  a_.bind(child);
  describe_child();
  a_.mov(eax, abi::kGateOpen | abi::kGateChild);
  a_.cmp(dword_ptr(rsp), abi::kGateOpen);
  a_.jne(lowered);
  a_.mov(eax, abi::kGateOpen);
  a_.bind(lowered);
  a_.mov(dword_ptr(rcx, in_gate_page(offsetof(abi::GatePage, gate))), eax);
  store_birth(
      Birth::kProcess,
      [&] {  // what libc keeps of the thread's id may still be its parent's
        a_.mov(rcx, env_.gate().value + offsetof(abi::GatePage, pid));
        a_.mov(ecx, dword_ptr(rcx));
      },
      dword_ptr(rsp, 8 + 4));
  a_.xor_(eax, eax);
  a_.bind(parent);
  a_.lea(rsp, ptr(rsp, kRedZone + 8));
  a_.jmp(out_);
  if (!has_flags()) return;
  a_.bind(elsewhere);
  call();
  a_.test(rax, rax);
  a_.jnz(out_);
  a_.lea(rsp, ptr(rsp, -kRedZone));
  a_.push(0);
  a_.jmp(child);
}

// By CLONE_THREAD, looked at before the call: the struct may change once there is a child.
void ClonePad::by_birth(void (ClonePad::*make)(Birth)) {
  if (!env_.births) {
    (this->*make)(Birth::kThread);
    return;
  }
  asmjit::Label process = a_.newLabel();
  a_.test(ecx, CLONE_THREAD);
  a_.jz(process);
  (this->*make)(Birth::kThread);
  a_.bind(process);
  (this->*make)(Birth::kProcess);
}

void ClonePad::clone_call() {
  asmjit::Label forks = a_.newLabel(), plain = a_.newLabel(), shares = a_.newLabel();
  if (number_ == SYS_clone3) emit_unless_struct(a_, plain);
  load_flags();
  a_.test(ecx, CLONE_VM);
  a_.jz(forks);
  a_.test(ecx, CLONE_SETTLS);
  a_.jz(shares);
  by_birth(&ClonePad::new_thread_call);
  a_.bind(shares);
  by_birth(&ClonePad::tls_sharing_call);
  a_.bind(forks);
  a_.test(ecx, CLONE_SETTLS);  // a child whose registration is elsewhere: its gate stays closed
  a_.jnz(plain);
  fork_call();
  a_.bind(plain);
  call();
}

}  // namespace

Result<std::vector<uint8_t>> build_clone_pad(TargetAddr at, const x86::SyscallSite& site,
                                             const Environment& env, TargetAddr reserve) {
  CodeBuffer code(at);
  if (site.stores_argument) code.assembler().mov(qword_ptr(rsi), rcx);
  ClonePad(code.assembler(), env, site.number, reserve).emit(site.end());
  return code.finish();
}

}  // namespace blip::jit
