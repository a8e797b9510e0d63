// SPDX-License-Identifier: MIT
// A block belongs to a place for frames, and so to one call at a time. Two threads that want one place at the
// same moment may both write to its block (docs/design/returns.md): `check` does not add up then. One that
// was held up between looking at the place and writing to it, for as long as a whole call of another thread,
// may do so even while that one's return reads the values; but it has written its slot before.
#include "jit/emit/kept_block.h"

#include "abi/shadow.h"
#include "jit/emit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kCheck = offsetof(abi::KeptValues, check);
constexpr int32_t kFaults = offsetof(abi::KeptValues, faults);
constexpr int32_t kValues = offsetof(abi::KeptValues, values);
constexpr int32_t kWord = sizeof(uint64_t);

// Together with 4 times the frame's address this gives the block's address.
uint64_t blocks_base(const ProcessEnvironment& env) {
  static_assert(abi::kKeptPerFrame == 4);
  const uint64_t frames = (env.shadow() + abi::kShadowThreadsSize).value;
  const uint64_t blocks = (env.shadow() + abi::kShadowSize).value;
  return blocks - abi::kKeptPerFrame * frames;
}

// With base = blocks_base.
Mem in_block(Gp base, int32_t offset, uint32_t size = kWord) { return ptr(base, rsi, 2, offset, size); }
int32_t value_offset(uint64_t n) { return kValues + kWord * static_cast<int32_t>(n); }
int32_t fault_offset(uint64_t n) { return kFaults + static_cast<int32_t>(n / 8); }

// rax = what `check` must be, with rcx = blocks_base.
void emit_mix(Assembler& a, uint32_t count) {
  a.mov(rax, qword_ptr(rsi, shadow::kSum));
  a.imul(rax, rax, abi::kKeptFactor);
  a.add(rax, in_block(rcx, kFaults));
  for (uint32_t n = 0; n < count; ++n) {
    a.imul(rax, rax, abi::kKeptFactor);
    a.add(rax, in_block(rcx, value_offset(n)));
  }
}

}  // namespace

void emit_no_kept_faults(Assembler& a, const ProcessEnvironment& env) {
  a.mov(rcx, blocks_base(env));
  a.mov(in_block(rcx, kFaults), 0);
}

void emit_kept_fault(Assembler& a, const ProcessEnvironment& env, uint64_t n) {
  a.mov(rcx, blocks_base(env));
  a.or_(in_block(rcx, fault_offset(n), 1), 1 << n % 8);
}

void emit_keep(Assembler& a, const ProcessEnvironment& env, uint64_t n) {
  a.mov(rcx, blocks_base(env));
  a.mov(in_block(rcx, value_offset(n)), rax);
}

void emit_sign_kept(Assembler& a, const ProcessEnvironment& env, uint32_t count) {
  a.mov(rcx, blocks_base(env));
  emit_mix(a, count);
  a.mov(in_block(rcx, kCheck), rax);
}

void emit_check_kept(Assembler& a, const ProcessEnvironment& env, uint32_t count) {
  asmjit::Label right = a.newLabel();
  a.mov(rcx, blocks_base(env));
  emit_mix(a, count);
  a.cmp(in_block(rcx, kCheck), rax);
  a.je(right);
  a.mov(in_block(rcx, kFaults), -1);
  a.bind(right);
}

void emit_load_kept(Assembler& a, const ProcessEnvironment& env, uint64_t n, int32_t slot,
                    asmjit::Label fault) {
  a.mov(rcx, blocks_base(env));
  a.mov(rax, in_block(rcx, value_offset(n)));
  a.test(in_block(rcx, fault_offset(n), 1), 1 << n % 8);
  a.jnz(fault);
  a.lea(rcx, ptr(rsp, slot));
  a.cmp(qword_ptr(rsi, shadow::kSlot), rcx);  // in this order: see above
  a.jne(fault);
}

}  // namespace blip::jit
