// SPDX-License-Identifier: MIT
// Around what happens at a return: find the call before it, end the call after it. Registers as in enter.cc,
// but rsi is the frame, which the actions in the middle keep.
#include "jit/return.h"

#include "abi/shadow.h"
#include "jit/emit/gate.h"
#include "jit/emit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using namespace shadow;       // NOLINT: offsets

ReturnEmitter::ReturnEmitter(const Emission& emission, std::vector<Body> bodies)
    : ActionEmitter(emission),
      bodies_(std::move(bodies)),
      find_(a_.newLabel()),
      found_(a_.newLabel()),
      leave_(a_.newLabel()) {}

// If there are several actions, the call is over whichever of them are switched off, and all have the same
// latency.
void ReturnEmitter::emit_bodies() {
  if (action_.latency_in_frame) emit_latency(a_);
  for (Body& body : bodies_) {
    if (bodies_.size() > 1) {
      a_.mov(rcx, env_.control.value);
      emit_switch_check(a_, env_.geometry, body.action.switch_index, body.over);
    }
    body.emitter->hot(body.over);
    a_.bind(body.over);
  }
}

void ReturnEmitter::hot(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  if (bodies_.size() == 1) emit_switch_check(a_, env_.geometry, action_.switch_index, done);
  const bool fast = has_fast_shadow(env_);
  if (fast) {
    emit_find_frame(a_, env_, frame_.size(), rax, rsi);
    a_.cmp(qword_ptr(rsi, kSlot), rax);
    a_.jne(find_);
    a_.add(rax, qword_ptr(rsi, kTime));
    a_.add(rax, qword_ptr(rsi, kOuter));
    a_.add(rax, action_.frame_id);
    a_.cmp(qword_ptr(rsi, kSum), rax);
    a_.jne(find_);
  } else {
    a_.jmp(find_);
  }
  a_.bind(found_);
  emit_bodies();
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
  a_.mov(rcx, channel_.control.value);
  a_.mov(eax, action_.frame_id);
  a_.lea(rdx, ptr(rsp, frame_.size()));
  a_.call(stubs_.find.value);
  a_.mov(rsi, rdx);
  a_.test(rdx, rdx);
  a_.jz(done);
  a_.jmp(found_);
  a_.bind(leave_);
  a_.mov(rcx, channel_.control.value);
  a_.mov(rdx, rsi);
  a_.call(stubs_.leave.value);
  a_.jmp(done);
  for (Body& body : bodies_) body.emitter->cold(body.over);
}

}  // namespace blip::jit
