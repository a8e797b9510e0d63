// SPDX-License-Identifier: MIT
// No lock: the slot of a live return address is one thread's own, and whatever comes between two of these
// instructions, a signal handler that calls the same function or another thread that wants the same place,
// leaves words that do not add up, or finds them so (docs/design/returns.md). Registers:
//   rsi  the thread's place
//   rcx  the control address, then the frame
//   rax  the slot
// Kept values are computed before the time is taken, with rsi = the frame, because they are no part of the
// call.
#include "jit/enter.h"

#include "abi/shadow.h"
#include "jit/emit/gate.h"
#include "jit/emit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using namespace shadow;       // NOLINT: offsets

void EnterEmitter::hot(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, action_, done);
  if (!has_fast_shadow(env_)) {
    a_.jmp(slow_);
  } else {
    emit_fast();
  }
  if (!keep_) return;
  a_.bind(keep_here_);
  keep_->hot();
  if (!env_.monotonic) emit_stamp(rsi);
  keep_->emit_check();
}

void EnterEmitter::emit_fast() {
  emit_find_thread(a_, env_, rsi, slow_);
  emit_find_frame(a_, env_, frame_.size(), rax, rcx);
  a_.cmp(qword_ptr(rcx, kSlot), 0);
  a_.jne(slow_);
  a_.mov(rdx, qword_ptr(rsi, kTop));
  a_.shr(rdx, abi::kDepthBits);
  a_.cmp(rdx, rax);
  a_.jbe(slow_);  // the innermost call is over, or on another stack
  a_.mov(qword_ptr(rcx, kSlot), rax);
  a_.mov(rdx, qword_ptr(rsi, kTop));
  a_.mov(qword_ptr(rcx, kOuter), rdx);
  a_.shl(rax, abi::kDepthBits);
  a_.mov(ax, dx);
  a_.add(ax, 1);
  a_.sbb(ax, 0);  // at most kDepthMask
  a_.mov(qword_ptr(rsi, kTop), rax);
  if (keep_)
    a_.mov(rsi, rcx);
  else
    emit_stamp(rcx);
}

void EnterEmitter::emit_stamp(Gp frame) {
  a_.rdtsc();
  a_.shl(rdx, 32 + abi::kClassBits);
  a_.shl(rax, abi::kClassBits);
  a_.or_(rax, rdx);
  a_.mov(qword_ptr(frame, kTime), rax);
  a_.add(rax, qword_ptr(frame, kSlot));
  a_.add(rax, qword_ptr(frame, kOuter));
  a_.add(rax, action_.frame_id);
  a_.mov(qword_ptr(frame, kSum), rax);
}

void EnterEmitter::cold(asmjit::Label done) {
  a_.bind(slow_);
  a_.mov(rcx, channel_.control.value);
  a_.mov(eax, action_.frame_id);
  a_.lea(rdx, ptr(rsp, frame_.size()));
  a_.call(stubs_.enter.value);
  if (!keep_) {
    a_.jmp(done);
    return;
  }
  a_.test(rdx, rdx);
  a_.jz(done);
  a_.mov(rsi, rdx);
  a_.jmp(keep_here_);
  keep_->cold();
}

}  // namespace blip::jit
