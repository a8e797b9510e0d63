// SPDX-License-Identifier: MIT
// A record into this CPU's ring, in one restartable sequence (docs/design/ring.md). Registers inside it:
//   rcx  the control address of the home region, then of the channel, then the ring's control block
//   rax  scratch, then the record's first word
//   rdx  scratch, then the address of the record
// The loads of `pos` are repeated rather than kept in a fourth register: nothing else on this CPU can change
// it inside the section, and a load costs less than saving one more register of the target.
#include "jit/record.h"

#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr int32_t kPos = offsetof(abi::RingControl, pos);
constexpr int32_t kData = offsetof(abi::RingControl, data_addr);
constexpr int32_t kRingPid = offsetof(abi::RingControl, pid);
}  // namespace

RecordEmitter::RecordEmitter(const Emission& emission)
    : ActionEmitter(emission),
      fields_(emission),
      outputs_(emission),
      restart_(a_.newLabel()),
      slow_(a_.newLabel()),
      slow_inside_(a_.newLabel()),
      no_room_(a_.newLabel()),
      other_process_(a_.newLabel()) {
  if (outputs_fit_section(action_, env_)) section_.emplace(emission.code, env_);
}

void RecordEmitter::hot(asmjit::Label done) {
  const abi::Geometry& g = channel_.geometry;
  if (action_.stack_at != 0) emit_stack(done);
  outputs_.begin_tries();
  a_.bind(restart_);
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, action_.switch_index, done);
  if (!section_) {
    a_.jmp(slow_);
    return;
  }
  emit_gate_check(a_, slow_);  // before the thread pointer is used: there may be none yet
  outputs_.begin_section();
  section_->begin();
  emit_gate_check(a_, slow_inside_);  // again inside: a signal handler may have forked in between
  outputs_.enter_section(slow_inside_);
  a_.mov(eax, thread_memory(env_.rseq->offset + kRseqCpuId, 4));
  a_.cmp(eax, g.ring_count);
  a_.jae(slow_inside_);
  a_.shl(eax, abi::kRingControlShift);
  if (env_.follow_fork) a_.mov(edx, dword_ptr(rcx, kPid));
  emit_go_to_channel(a_, env_, channel_);
  a_.lea(rcx, ptr(rcx, rax, 0, abi::kRingControlsOffset));
  if (env_.follow_fork) {
    a_.cmp(dword_ptr(rcx, kRingPid), edx);
    a_.jne(other_process_);
  }
  a_.rdtsc();
  a_.shl(rdx, 32 + abi::kClassBits);
  a_.shl(rax, abi::kClassBits);
  a_.lea(rax, ptr(rax, rdx, 0, action_.class_id));
  a_.mov(edx, dword_ptr(rcx, kPos));
  a_.and_(edx, g.subbuf_size - 1);
  a_.cmp(edx,
         g.subbuf_size - action_.record_size);  // strictly below the end: pos never reaches it by a record
  a_.jae(no_room_);
  a_.mov(edx, dword_ptr(rcx, kPos));
  a_.and_(edx, static_cast<uint32_t>(g.ring_size() - 1));
  a_.add(rdx, qword_ptr(rcx, kData));
  a_.mov(qword_ptr(rdx), rax);
  for (const Field& field : action_.fields) fields_.emit(field, RecordPath::kRseqRing);
  emit_publish();
  section_->end();
}

// Outside of the section: a walk takes longer than a restartable sequence may.
void RecordEmitter::emit_stack(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, action_.switch_index, done);
  a_.test(dword_ptr(rcx, kGate), abi::kGateIgnored);  // a child that is not followed
  a_.jnz(done);
  a_.mov(rax, action_.stack_at);
  a_.mov(rcx, env_.unwind.value);
  a_.lea(rdx, ptr(rsp, frame_.size()));
  a_.call(stubs_.backtrace.value);
  a_.mov(dword_ptr(rsp, frame_.stack_id_slot()), edx);
}

void RecordEmitter::emit_publish() {
  if (outputs_.empty()) {
    a_.add(qword_ptr(rcx, kPos), action_.record_size);
    return;
  }
  outputs_.emit_section(slow_inside_);
  if (outputs_.is_dynamic())
    a_.add(qword_ptr(outputs_.ring(), kPos), rax);
  else
    a_.add(qword_ptr(outputs_.ring(), kPos), action_.record_size);
}

void RecordEmitter::emit_commit() {
  if (!outputs_.empty()) outputs_.emit_calls();
  const Gp record = outputs_.empty() ? Gp(rdx) : outputs_.record();
  a_.add(qword_ptr(record, -8), abi::kSlotFull - abi::kSlotBusy);
}

void RecordEmitter::cold(asmjit::Label done) {
  if (section_) {
    asmjit::Label prepared = a_.newLabel();
    if (env_.follow_fork) {
      a_.bind(other_process_);
      a_.mov(edx, action_.class_id);
      a_.call(stubs_.channels[action_.channel].name_process.value);
      a_.jmp(prepared);
    }
    a_.bind(no_room_);
    a_.mov(eax, action_.record_size);
    a_.mov(edx, action_.class_id);
    a_.call(stubs_.channels[action_.channel].next_subbuf.value);
    a_.bind(prepared);
    a_.test(eax, eax);
    a_.jnz(restart_);
    a_.jmp(done);  // counted as discarded
    outputs_.emit_misses(*section_, restart_, slow_);
    section_->abort_here();
    a_.bind(slow_inside_);
    section_->abandon();
  }
  a_.bind(slow_);
  a_.mov(rcx, channel_.control.value);
  a_.mov(eax, action_.class_id);
  a_.call(stubs_.reserve.value);
  a_.test(rdx, rdx);
  a_.jz(done);  // counted as discarded or skipped
  for (const Field& field : action_.fields) fields_.emit(field, RecordPath::kSharedRing);
  emit_commit();
  a_.jmp(done);
  outputs_.emit_texts();
  if (section_) section_->emit_descriptor();
}

}  // namespace blip::jit
