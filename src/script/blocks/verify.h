// SPDX-License-Identifier: MIT
// Checks that a program keeps the rules of blocks.h, on which whatever runs it relies: it may come from a file. What it accepts ends
// after a bounded number of steps and touches nothing but its locals and maps. docs/design/blocks.md lists the rules.
#pragma once

#include "base/result.h"
#include "script/blocks/blocks.h"

namespace blip::script {

// kInvalid; the message says where: "function 2 (total), block 1, node 3: ...".
Status verify(const Program& program);
// The same of a program whose functions before `first` were verified before, and which has only grown since.
Status verify(const Program& program, size_t first);

// The type of each node of a block of a verified program; kNone if it makes no value.
std::vector<ValueType> types_of(const Program& program, const Function& function, const Block& block);

// The least that a kBudget must be at the beginning of the block: the nodes of all loops that lead back to it; 0 if none does.
uint64_t budget_of_loop(const Function& function, uint32_t block);

}  // namespace blip::script
