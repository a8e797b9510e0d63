// SPDX-License-Identifier: MIT
#pragma once

#include "jit/emit/assembler.h"
#include "jit/program/environment.h"

namespace blip::jit {

// A restartable sequence in generated code (kernel: Documentation/rseq; include/uapi/linux/rseq.h):
//
//            lea  rax, [descriptor]
//            mov  fs:[rseq_cs], rax      last instruction before the section: the kernel forgets a
//                                        descriptor whose section the thread is not in
//   start:   ...
//            one store that publishes
//   end:     ...
//            0f b9 3d + signature        in front of the abort address, as the kernel demands
//   abort:   ...
//            the control address         by which others know whose section it is (ring/readers.h)
//   descriptor: { version 0, flags 0, start, end - start, abort }, 32 bytes, aligned
class Section {
 public:
  // With env.rseq.
  Section(CodeBuffer& code, const ProcessEnvironment& env);

  // Points the thread at the descriptor (clobbers rax) and opens the section.
  void begin();
  // Right after the publishing store. Also clears rseq_cs: a pointer left behind would outlive the thread in
  // memory that libc reuses for the next one, and the pad in memory that blip unmaps.
  void end();
  // Leaves the section without publishing: clears rseq_cs.
  void abandon();
  // The abort address: control comes here with the registers of the interrupted instruction.
  void abort_here();
  // The descriptor itself; last, outside the flow of control.
  void emit_descriptor();

 private:
  CodeBuffer& code_;
  Rseq rseq_;
  TargetAddr owner_;
  asmjit::Label descriptor_;
  TargetAddr start_, end_, abort_;
};

// Offsets in struct rseq.
inline constexpr int32_t kRseqCpuId = 4;
inline constexpr int32_t kRseqCs = 8;

}  // namespace blip::jit
