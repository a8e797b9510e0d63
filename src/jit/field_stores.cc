// SPDX-License-Identifier: MIT
#include "jit/field_stores.h"

#include "abi/shadow.h"
#include "jit/emit/section.h"
#include "jit/program/hit_needs.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

void FieldStores::emit(const Field& field, RecordPath path) {
  const auto store = [&](auto value) { a_.mov(ptr(rdx, field.offset), value); };
  switch (field.capture) {
    case Capture::kRegister:
      if (field.reg != Gp::kIdSp && emission_.frame.slot(field.reg) < 0) return store(gpq(field.reg));
      load_register(field.reg);
      return store(rax);
    case Capture::kFlags:
      a_.mov(rax, ptr(rsp, emission_.frame.flags_slot()));
      return store(rax);
    case Capture::kConstant:
      a_.mov(rax, field.value);
      return store(rax);
    case Capture::kTid:
    case Capture::kThreadKey:
      load_tid(path);
      return store(eax);
    case Capture::kCpu:
      if (path == RecordPath::kSharedRing) return store(ecx);
      a_.mov(eax, thread_memory(emission_.env.rseq->offset + kRseqCpuId, 4));
      return store(eax);
    case Capture::kShortConstant:
      a_.mov(byte_ptr(rdx, field.offset), static_cast<uint8_t>(field.value));
      return;
    case Capture::kLatency:
      load_latency();
      return store(rax);
    case Capture::kDepth:
      a_.movzx(eax, word_ptr(rsi, offsetof(abi::ShadowFrame, outer)));
      return store(ax);
    case Capture::kStack:
      a_.mov(eax, dword_ptr(rsp, emission_.frame.stack_id_slot()));
      return store(eax);
    case Capture::kHitWord:
      a_.mov(qword_ptr(rdx, field.offset), static_cast<uint32_t>(field.value));
      return;
    case Capture::kNone:
      return;
  }
}

void FieldStores::load_register(uint8_t reg) {
  if (reg == Gp::kIdSp)
    a_.lea(rax, ptr(rsp, emission_.frame.size()));
  else
    a_.mov(rax, ptr(rsp, emission_.frame.slot(reg)));
}

void FieldStores::load_tid(RecordPath path) {
  if (path == RecordPath::kSharedRing) {
    a_.mov(rax, rcx);
    a_.shr(rax, 32);
  } else if (emission_.env.tid_offset) {
    a_.mov(eax, thread_memory(*emission_.env.tid_offset, 4));
  } else {
    a_.xor_(eax, eax);
  }
}

// The class in the header's low bits does not matter: the entry has zeros there.
void FieldStores::load_latency() {
  if (has_latency_in_frame(emission_.action)) {
    a_.mov(rax, qword_ptr(rsi, offsetof(abi::ShadowFrame, time)));
    return;
  }
  a_.mov(rax, qword_ptr(rdx));
  a_.sub(rax, qword_ptr(rsi, offsetof(abi::ShadowFrame, time)));
  a_.shr(rax, abi::kClassBits);
}

}  // namespace blip::jit
