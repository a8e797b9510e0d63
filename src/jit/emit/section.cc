// SPDX-License-Identifier: MIT
#include "jit/emit/section.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr uint8_t kUd1[] = {0x0f, 0xb9,
                            0x3d};  // ud1 signature(%rip), %edi: makes the signature a valid instruction
constexpr uint32_t kDescriptorAlign = 32;
}  // namespace

Section::Section(CodeBuffer& code, const ProcessEnvironment& env)
    : code_(code), rseq_(*env.rseq), owner_(env.control), descriptor_(code.assembler().newLabel()) {}

void Section::begin() {
  auto& a = code_.assembler();
  a.lea(rax, ptr(descriptor_));
  a.mov(thread_memory(rseq_.offset + kRseqCs, 8), rax);
  start_ = code_.here();
}

void Section::end() {
  end_ = code_.here();
  abandon();
}

void Section::abandon() { code_.assembler().mov(thread_memory(rseq_.offset + kRseqCs, 8), 0); }

void Section::abort_here() {
  auto& a = code_.assembler();
  a.embed(kUd1, sizeof kUd1);
  a.embedUInt32(rseq_.signature);
  abort_ = code_.here();
}

void Section::emit_descriptor() {
  auto& a = code_.assembler();
  do a.int3();
  while ((code_.here().value + abi::kSectionOwner) % kDescriptorAlign != 0);
  a.embedUInt64(owner_.value);
  a.bind(descriptor_);
  a.embedUInt64(0);  // version, flags
  a.embedUInt64(start_.value);
  a.embedUInt64(end_ - start_);
  a.embedUInt64(abort_.value);
}

}  // namespace blip::jit
