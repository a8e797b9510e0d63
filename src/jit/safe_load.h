// SPDX-License-Identifier: MIT
#pragma once

#include "jit/emit/assembler.h"
#include "jit/program/environment.h"

namespace blip::jit {

// True if somebody walks stacks or collects values, and it is known what can be read.
bool has_safe_load(const ProcessEnvironment& env);

// An abi::SafeLoad: words of the stack, in a restartable sequence and by the table of valid ranges
// (docs/design/safe_reads.md).
void emit_safe_load(CodeBuffer& code, const ProcessEnvironment& env, const AreaStubs& stubs);

}  // namespace blip::jit
