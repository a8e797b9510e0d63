// SPDX-License-Identifier: MIT
// Around what happens at a return: find the call before it, end the call after it. Registers as in enter.cc,
// but rsi is the frame, which the program in the middle keeps.
#include "jit/return.h"

#include "abi/shadow.h"
#include "jit/gate.h"
#include "jit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using namespace shadow;       // NOLINT: offsets

ReturnEmitter::ReturnEmitter(const Emission& emission, std::unique_ptr<ProgramEmitter> body)
    : ProgramEmitter(emission),
      body_(std::move(body)),
      find_(a_.newLabel()),
      found_(a_.newLabel()),
      over_(a_.newLabel()),
      leave_(a_.newLabel()) {}

void ReturnEmitter::hot(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, program_.switch_index, done);
  const bool fast = has_fast_shadow(env_);
  if (fast) {
    emit_find_frame(a_, env_, frame_.size(), rax, rsi);
    a_.cmp(qword_ptr(rsi, kSlot), rax);
    a_.jne(find_);
    a_.add(rax, qword_ptr(rsi, kTime));
    a_.add(rax, qword_ptr(rsi, kOuter));
    a_.add(rax, program_.frame_id);
    a_.cmp(qword_ptr(rsi, kSum), rax);
    a_.jne(find_);
  } else {
    a_.jmp(find_);
  }
  a_.bind(found_);
  body_->hot(over_);
  a_.bind(over_);
  if (!fast) {
    a_.jmp(leave_);
    return;
  }
  a_.mov(rcx, env_.control.value);
  emit_find_thread(a_, env_, rdx, leave_);
  a_.mov(rax, qword_ptr(rsi, kOuter));
  a_.mov(qword_ptr(rdx, kTop), rax);
  a_.mov(qword_ptr(rsi, kSlot), 0);
}

void ReturnEmitter::cold(asmjit::Label done) {
  a_.bind(find_);
  a_.mov(rcx, env_.control.value);
  a_.mov(eax, program_.frame_id);
  a_.lea(rdx, ptr(rsp, frame_.size()));
  a_.call(stubs_.find.value);
  a_.mov(rsi, rdx);
  a_.test(rdx, rdx);
  a_.jz(done);
  a_.jmp(found_);
  a_.bind(leave_);
  a_.mov(rcx, env_.control.value);
  a_.mov(rdx, rsi);
  a_.call(stubs_.leave.value);
  a_.jmp(done);
  body_->cold(over_);
}

}  // namespace blip::jit
