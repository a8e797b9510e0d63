// SPDX-License-Identifier: MIT
// Checks that a program keeps the rules of ir.h, on which the interpreter and jit rely.
#pragma once

#include "base/result.h"
#include "script/ir/ir.h"

namespace blip::script {

// How many nodes the operation is made of: 0 to 3, the first ones of a, b and c.
unsigned arity(Op op);

// The depth of each node: 1, or one more than that of its deepest operand.
std::vector<uint32_t> depths(const Code& code);

Status verify(const Code& code);
Status verify(const HitProgram& program);

}  // namespace blip::script
