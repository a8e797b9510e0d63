// SPDX-License-Identifier: MIT
// Finding the places of shadow.h in generated code; rcx holds the control address.
#pragma once

#include <cstddef>

#include "abi/shadow.h"
#include "jit/emit/assembler.h"
#include "jit/program/environment.h"

namespace blip::jit {

// Offsets in a frame and in a thread's place.
namespace shadow {
inline constexpr int32_t kSlot = offsetof(abi::ShadowFrame, slot);
inline constexpr int32_t kTime = offsetof(abi::ShadowFrame, time);
inline constexpr int32_t kOuter = offsetof(abi::ShadowFrame, outer);
inline constexpr int32_t kSum = offsetof(abi::ShadowFrame, sum);
inline constexpr int32_t kTop = offsetof(abi::ShadowThread, top);
}  // namespace shadow

// True if pads find the thread themselves: its thread pointer can be relied on, and the clock is the TSC.
inline bool has_fast_shadow(const ProcessEnvironment& env) { return env.rseq && !env.monotonic; }

// `slot` = where the return address is, `frame` = the first place for it. Clobbers edx.
void emit_find_frame(asmjit::x86::Assembler& a, const ProcessEnvironment& env, int32_t frame_size,
                     asmjit::x86::Gp slot, asmjit::x86::Gp frame);

// `thread` = the thread's place; goes to `elsewhere` if that is not the first one, or the gate says that the
// thread pointer may not be used. Clobbers eax.
void emit_find_thread(asmjit::x86::Assembler& a, const ProcessEnvironment& env, asmjit::x86::Gp thread,
                      asmjit::Label elsewhere);

// The cycles since the entry of the call whose frame is in rsi: left in rax, and in the frame instead of the
// time of the entry. Clobbers rdx.
void emit_latency(asmjit::x86::Assembler& a);

}  // namespace blip::jit
