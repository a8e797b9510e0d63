// SPDX-License-Identifier: MIT
// One plain increment of this CPU's counter in a restartable sequence; a locked one of the shared row
// otherwise.
#include "jit/count.h"

#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

CountEmitter::CountEmitter(const Emission& emission)
    : ActionEmitter(emission), slow_(a_.newLabel()), slow_inside_(a_.newLabel()) {
  if (env_.rseq) section_.emplace(emission.code, env_);
}

Mem CountEmitter::counter(abi::CounterKind kind, uint32_t row) const {
  return qword_ptr(rcx, static_cast<int32_t>(channel_.geometry.counter_offset(kind, row, action_.class_id)));
}

void CountEmitter::hot(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, action_.switch_index, done);
  if (!section_) {
    a_.jmp(slow_);
    return;
  }
  emit_gate_check(a_, slow_);
  section_->begin();
  emit_gate_check(a_, slow_inside_);
  a_.mov(eax, thread_memory(env_.rseq->offset + kRseqCpuId, 4));
  a_.cmp(eax, channel_.geometry.ring_count);
  a_.jae(slow_inside_);
  emit_go_to_channel(a_, env_, channel_);
  a_.imul(eax, eax, static_cast<uint32_t>(channel_.geometry.counter_row_size()));
  Mem mine = counter(abi::kHits, 0);
  mine.setIndex(rax);
  a_.inc(mine);
  section_->end();
}

void CountEmitter::cold(asmjit::Label done) {
  const uint32_t shared_row = channel_.geometry.ring_count;
  if (section_) {
    section_->abort_here();
    a_.bind(slow_inside_);
    section_->abandon();
  }
  a_.bind(slow_);
  asmjit::Label skip = a_.newLabel();
  a_.mov(rcx, env_.control.value);
  a_.test(dword_ptr(rcx, kGate), abi::kGateOpen);
  a_.jz(skip);
  emit_go_to_channel(a_, env_, channel_);
  a_.lock().inc(counter(abi::kHits, shared_row));
  a_.jmp(done);
  a_.bind(skip);  // a fork's child that nobody announced opens its gate now, if it may
  a_.test(dword_ptr(rcx, kGate), abi::kGateIgnored);
  a_.jnz(done);
  asmjit::Label closed = a_.newLabel();
  a_.mov(eax, dword_ptr(rcx, offsetof(abi::DataHeader, unannounced_gate)));
  a_.test(eax, eax);
  a_.jz(closed);
  a_.mov(dword_ptr(rcx, kGate), eax);
  a_.jmp(slow_);
  a_.bind(closed);
  emit_go_to_channel(a_, env_, channel_);
  a_.lock().inc(counter(abi::kSkipped, shared_row));
  a_.jmp(done);
  if (section_) section_->emit_descriptor();
}

}  // namespace blip::jit
