// SPDX-License-Identifier: MIT
// Reads of memory that is known to be there: docs/design/safe_reads.md.
#pragma once

#include "jit/assembler.h"
#include "jit/environment.h"

namespace blip::jit {

// Goes to `elsewhere` unless `size` bytes from the address in rax on may be loaded. Inside of a section, and
// the loads must follow in the same one. `hint`: a number of the read's own, where blip_find_range is told to
// leave what it found. Clobbers rcx, flags and the 8 bytes at `word`; leaves in rdx how many bytes from the
// address on may be loaded, at least `size`.
void emit_range_check(asmjit::x86::Assembler& a, const Environment& env, uint32_t hint, uint32_t size,
                      asmjit::x86::Mem word, asmjit::Label elsewhere);

}  // namespace blip::jit
