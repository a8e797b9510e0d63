// SPDX-License-Identifier: MIT
// Copies in generated code, of memory that can be read; rcx is changed by all.
#pragma once

#include "jit/emit/assembler.h"

namespace blip::jit {

// `count` bytes from [rax + 0] on, or zeros, to [rdi + offset] on. Clobbers r8.
enum class CopyFrom { kMemory, kZeros };
void emit_copy(asmjit::x86::Assembler& a, CopyFrom from, int32_t offset, uint32_t count);

// r9 bytes from [rax] to [r11]. Clobbers r8.
void emit_copy_counted(asmjit::x86::Assembler& a);

// From [rax] to [r11] up to NUL, at most `most` bytes; rdx = how many can be read. ecx = the length, with
// abi::kLengthCut if there was no NUL. Goes to `ran_out` if what can be read ends before either. Clobbers
// rdx, r8, r9.
void emit_copy_text(asmjit::x86::Assembler& a, uint32_t most, asmjit::Label ran_out);

}  // namespace blip::jit
