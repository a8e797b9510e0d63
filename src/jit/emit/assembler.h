// SPDX-License-Identifier: MIT
// asmjit set up for code that will run at a known address of another process.
#pragma once

#include <asmjit/asmjit.h>

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::jit {

class CodeBuffer {
 public:
  explicit CodeBuffer(TargetAddr at);

  asmjit::x86::Assembler& assembler() { return assembler_; }
  TargetAddr here() const { return at_ + assembler_.offset(); }
  // The code so far; fails if any instruction could not be encoded or reached.
  Result<std::vector<uint8_t>> finish();

 private:
  struct Failures : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override;
    std::string first;
  };

  TargetAddr at_;
  Failures failures_;
  asmjit::CodeHolder code_;
  asmjit::x86::Assembler assembler_;
};

// A word relative to the thread pointer: fs:[offset].
asmjit::x86::Mem thread_memory(int32_t offset, uint32_t size);

}  // namespace blip::jit
