// SPDX-License-Identifier: MIT
// Registers:
//   rdi  the address, kept
//   r8   the number of its hint: one for each 64 KiB, for each thread has a stack of its own
//   r9   how many more tries there are
//   rsi  the hint
//   r10  where it is said what is read
//   rcx, rdx  of emit_range_check()
#include "jit/safe_load.h"

#include "jit/emit/gate.h"
#include "jit/emit/ranges.h"
#include "jit/emit/section.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr uint32_t kTries = 8;
constexpr uint8_t kHintShift = 16;
static_assert(abi::kRangeHints == 256, "a hint's number is a byte of the address");

}  // namespace

bool has_safe_load(const ProcessEnvironment& env) {
  return env.rseq && env.geometry.ranges && (env.unwind != TargetAddr() || env.collects);
}

void emit_safe_load(CodeBuffer& code, const ProcessEnvironment& env, const AreaStubs& stubs) {
  auto& a = code.assembler();
  Section section(code, env);
  asmjit::Label again = a.newLabel(), miss = a.newLabel(), unknown_inside = a.newLabel(),
                unknown = a.newLabel(), next = a.newLabel(), new_reader = a.newLabel(), reader = a.newLabel();
  a.mov(r8, rdi);
  a.shr(r8, kHintShift);
  a.movzx(r8d, r8.r8());
  a.mov(r9d, kTries);
  a.bind(again);
  a.mov(rcx, env.control.value);
  emit_gate_check(a, unknown);  // before the thread pointer is used
  emit_find_reading(a, env, new_reader);
  a.bind(reader);
  a.mov(r10, rax);
  section.begin();
  emit_gate_check(a, unknown_inside);
  emit_begin_reading(a, env, r10, unknown_inside);
  emit_range_check(
      a, env, {.address = rdi, .size = sizeof(uint64_t), .hint = range_hint(r8), .kept = rsi, .reading = r10},
      miss);
  a.mov(rax, qword_ptr(rdi));
  section.end();
  a.mov(edx, 1);
  a.ret();

  a.bind(miss);
  section.abandon();
  a.mov(rcx, env.control.value);
  a.mov(eax, r8d);
  a.mov(rdx, rdi);
  a.call(stubs.find_range.value);
  a.test(rdx, rdx);
  a.jz(unknown);
  a.bind(next);
  a.sub(r9d, 1);
  a.jnz(again);
  a.jmp(unknown);
  section.abort_here();
  section.abandon();
  a.jmp(next);
  a.bind(new_reader);
  emit_ask_for_reading(a, env, stubs.find_reading);
  a.jnz(reader);
  a.jmp(unknown);
  a.bind(unknown_inside);
  section.abandon();
  a.bind(unknown);
  a.xor_(eax, eax);
  a.xor_(edx, edx);
  a.ret();
  section.emit_descriptor();
}

}  // namespace blip::jit
