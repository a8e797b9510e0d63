// SPDX-License-Identifier: MIT
// A latency into this CPU's histogram, in one restartable sequence that adds to two places: the sum, then the
// bucket, which publishes. Whoever is interrupted between the two finds it out by rax, which the kernel
// keeps: xadd has put the old sum there, and that has abi::kLatencyBias, as nothing else in the section has.
// The bucket is then one of the shared row; which row it is does not matter, all are added up in the end. The
// largest latency may be stored twice.
//   rsi  the call's frame, which holds the latency
//   rcx  the control address of the home region, then of the channel, then that plus the offset of this CPU's row
//   rdx  the bucket's number
//   rax  scratch
#include "jit/latency.h"

#include "jit/emit/gate.h"
#include "jit/emit/shadow_code.h"
#include "jit/program/hit_needs.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

LatencyEmitter::LatencyEmitter(const Emission& emission)
    : ActionEmitter(emission), slow_(a_.newLabel()), slow_inside_(a_.newLabel()), aborted_(a_.newLabel()) {
  if (env_.rseq && !env_.monotonic) section_.emplace(emission.code, env_);
}

Mem LatencyEmitter::total(size_t field) const {
  return qword_ptr(
      rcx, static_cast<int32_t>(channel_.geometry.latency_totals_offset(0, action_.class_id) + field));
}

Mem LatencyEmitter::bucket(uint32_t row) const {
  const uint64_t first = channel_.geometry.latency_buckets_offset(row, action_.class_id);
  return qword_ptr(rcx, rdx, 3, static_cast<int32_t>(first));
}

// rdx = abi::latency_bucket(rax). Clobbers rax, rcx.
void LatencyEmitter::emit_bucket() {
  a_.mov(rdx, rax);
  a_.or_(rax, 1 << abi::kLatencySubBits);
  a_.bsr(rcx, rax);
  a_.sub(ecx, abi::kLatencySubBits);
  a_.shr(rdx, cl);
  a_.lea(edx, ptr(rdx, rcx, abi::kLatencySubBits));
}

void LatencyEmitter::hot(asmjit::Label) {
  const abi::Geometry& g = channel_.geometry;
  if (!env_.monotonic) {
    if (!has_latency_in_frame(action_))
      emit_latency(a_);
    else if (section_)
      a_.mov(rax, qword_ptr(rsi, shadow::kTime));
  }
  if (!section_) {
    a_.jmp(slow_);
    return;
  }
  emit_bucket();
  a_.mov(rcx, env_.control.value);
  emit_gate_check(a_, slow_);
  section_->begin();
  emit_gate_check(a_, slow_inside_);
  a_.mov(eax, thread_memory(env_.rseq->offset + kRseqCpuId, 4));
  a_.cmp(eax, g.ring_count);
  a_.jae(slow_inside_);
  emit_go_to_channel(a_, env_, channel_);
  a_.imul(rax, rax, static_cast<uint32_t>(g.latency_row_size()));
  a_.add(rcx, rax);
  a_.mov(rax, qword_ptr(rsi, shadow::kTime));
  asmjit::Label not_larger = a_.newLabel();
  a_.cmp(rax, total(offsetof(abi::LatencyTotals, max)));
  a_.jbe(not_larger);
  a_.mov(total(offsetof(abi::LatencyTotals, max)), rax);
  a_.bind(not_larger);
  a_.xadd(total(offsetof(abi::LatencyTotals, sum)), rax);
  a_.inc(bucket(0));  // publishes
  section_->end();
}

void LatencyEmitter::cold(asmjit::Label done) {
  if (section_) {
    section_->abort_here();
    a_.test(rax, rax);
    a_.js(aborted_);
    a_.bind(slow_inside_);
    section_->abandon();
  }
  a_.bind(slow_);
  a_.mov(rcx, channel_.control.value);
  a_.mov(eax, action_.class_id);
  a_.mov(rdx, rsi);
  a_.call(stubs_.measure.value);
  a_.jmp(done);
  if (!section_) return;
  a_.bind(aborted_);
  section_->abandon();
  a_.mov(rcx, channel_.control.value);
  a_.lock().inc(bucket(channel_.geometry.ring_count));
  a_.jmp(done);
  section_->emit_descriptor();
}

}  // namespace blip::jit
