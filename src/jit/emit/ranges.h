// SPDX-License-Identifier: MIT
// Reads of memory that is known to be there: docs/design/safe_reads.md.
#pragma once

#include "jit/emit/assembler.h"
#include "jit/program/environment.h"

namespace blip::jit {

// Tells blip_find_range where to leave what it found, with rcx = the control address: by a number of the
// read's own, or by a register that holds one.
asmjit::x86::Mem range_hint(uint32_t number);
asmjit::x86::Mem range_hint(asmjit::x86::Gp number);

// Finds the place where this thread says what it reads, with rcx = the control address. The place's address
// comes in rax. Goes to `unknown` with rdx = what the thread is known by (blip_find_reading) if it is not
// where it is looked for first. Before the section; clobbers rdx and flags.
void emit_find_reading(asmjit::x86::Assembler& a, const ProcessEnvironment& env, asmjit::Label unknown);
// At `unknown`: rax and rcx as emit_find_reading() leaves them; zero flag: the thread must not read.
void emit_ask_for_reading(asmjit::x86::Assembler& a, const ProcessEnvironment& env, TargetAddr find_reading);

// First in the section, with rcx = the control address and `reading` as in RangeRead: goes to `elsewhere` in
// a process whose memory the ranges are not of (a fork's child, be it of a handler that came just now), and
// in a thread that has no restartable sequences (its CPU is none). Clobbers rax and flags.
void emit_begin_reading(asmjit::x86::Assembler& a, const ProcessEnvironment& env,
                        const asmjit::Operand& reading, asmjit::Label elsewhere);

struct RangeRead {
  asmjit::x86::Gp address;
  uint32_t size;            // bytes
  asmjit::x86::Mem hint;    // see range_hint()
  asmjit::Operand kept;     // 8 bytes of memory or a register, where the hint stays
  asmjit::Operand reading;  // memory or a register with the address of the thread's abi::Reading
};

// Goes to `elsewhere` unless the bytes may be loaded. Inside of a section, and the loads must follow in the
// same one. Clobbers rcx, flags and `kept`; leaves in rdx how many bytes from the address on may be loaded,
// at least `size`.
void emit_range_check(asmjit::x86::Assembler& a, const ProcessEnvironment& env, const RangeRead& read,
                      asmjit::Label elsewhere);

}  // namespace blip::jit
