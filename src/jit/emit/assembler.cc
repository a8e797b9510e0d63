// SPDX-License-Identifier: MIT
#include "jit/emit/assembler.h"

#include <cstring>

namespace blip::jit {

void CodeBuffer::Failures::handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) {
  if (first.empty()) first = message;
}

CodeBuffer::CodeBuffer(TargetAddr at) : at_(at) {
  code_.init(asmjit::Environment(asmjit::Arch::kX64), at.value);
  code_.setErrorHandler(&failures_);
  code_.attach(&assembler_);
}

Result<std::vector<uint8_t>> CodeBuffer::finish() {
  code_.flatten();
  code_.resolveUnresolvedLinks();
  code_.relocateToBase(at_.value);
  if (!failures_.first.empty()) return Error(ErrorKind::kUnsupported, "code generation: " + failures_.first);
  std::vector<uint8_t> bytes(code_.codeSize());
  code_.copyFlattenedData(bytes.data(), bytes.size());
  return bytes;
}

asmjit::x86::Mem thread_memory(int32_t offset, uint32_t size) {
  asmjit::x86::Mem mem = asmjit::x86::ptr_abs(static_cast<uint64_t>(int64_t{offset}), size);
  mem.setSegment(asmjit::x86::fs);
  return mem;
}

}  // namespace blip::jit
