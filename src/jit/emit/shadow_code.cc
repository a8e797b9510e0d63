// SPDX-License-Identifier: MIT
#include "jit/emit/shadow_code.h"

#include "abi/layout.h"
#include "abi/shadow.h"
#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

void emit_find_frame(Assembler& a, const ProcessEnvironment& env, int32_t frame_size, Gp slot, Gp frame) {
  const auto frames = static_cast<int32_t>(env.shadow() + abi::kShadowThreadsSize - env.control);
  a.lea(slot, ptr(rsp, frame_size));
  a.mov(rdx, slot);
  a.shr(rdx, abi::kFrameWindowShift);
  a.imul(edx, edx, abi::kFrameFactor);
  a.lea(edx, ptr(rdx, slot, 1));
  a.and_(edx, abi::kFrameMask);
  a.lea(frame, ptr(rcx, rdx, 0, frames));
}

void emit_find_thread(Assembler& a, const ProcessEnvironment& env, Gp thread, asmjit::Label elsewhere) {
  const auto threads = static_cast<int32_t>(env.shadow() - env.control);
  emit_gate_check(a, elsewhere);
  a.mov(thread, thread_memory(0, 8));
  a.imul(eax, thread.r32(), abi::kThreadFactor);
  a.shr(eax, abi::kThreadShift);
  a.and_(eax, abi::kThreadMask);
  a.cmp(qword_ptr(rcx, rax, 0, threads), thread);
  a.jne(elsewhere);
  a.lea(thread, ptr(rcx, rax, 0, threads));
}

void emit_latency(Assembler& a) {
  a.rdtsc();
  a.shl(rdx, 32 + abi::kClassBits);
  a.shl(rax, abi::kClassBits);
  a.or_(rax, rdx);
  a.sub(rax, qword_ptr(rsi, shadow::kTime));
  a.shr(rax, abi::kClassBits);
  a.mov(qword_ptr(rsi, shadow::kTime), rax);
}

}  // namespace blip::jit
