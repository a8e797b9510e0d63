// SPDX-License-Identifier: MIT
#include "jit/tell_libraries.h"

#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

void TellLibrariesEmitter::hot(asmjit::Label done) {
  a_.mov(rcx, env_.control.value);
  emit_switch_check(a_, env_.geometry, action_.switch_index, done);
  a_.mov(eax, uint32_t{!env_.no_syscalls});
  a_.call(stubs_.tell_libraries.value);
}

}  // namespace blip::jit
