// SPDX-License-Identifier: MIT
// The block of abi::KeptValues that belongs to a call, whose abi::ShadowFrame is in rsi. All of this clobbers rcx.
#pragma once

#include "jit/emit/assembler.h"
#include "jit/program/environment.h"

namespace blip::jit {

// At the entry: first no value is a fault, then each is computed and kept (it is in rax) or is a fault, and once the frame is whole,
// the block is signed as its own. Signing clobbers rax too.
void emit_no_kept_faults(asmjit::x86::Assembler& a, const ProcessEnvironment& env);
void emit_kept_fault(asmjit::x86::Assembler& a, const ProcessEnvironment& env, uint64_t n);
void emit_keep(asmjit::x86::Assembler& a, const ProcessEnvironment& env, uint64_t n);
void emit_sign_kept(asmjit::x86::Assembler& a, const ProcessEnvironment& env, uint32_t count);

// At a return: if the block is not what the entry of this call has left, all values are marked as faults. Clobbers rax.
void emit_check_kept(asmjit::x86::Assembler& a, const ProcessEnvironment& env, uint32_t count);

// Then: rax = value `n`, or goes to `fault`. `slot`: where the return address is, from rsp.
void emit_load_kept(asmjit::x86::Assembler& a, const ProcessEnvironment& env, uint64_t n, int32_t slot,
                    asmjit::Label fault);

}  // namespace blip::jit
