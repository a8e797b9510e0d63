// SPDX-License-Identifier: MIT
// The last steps to a function that verify() accepts: of function_builder.cc only.
#pragma once

#include "base/result.h"
#include "script/blocks/blocks.h"
#include "script/blocks/verify.h"

namespace blip::script {

// What the node of a block makes.
ValueType type_in(const Program& program, const Function& function, const Block& block, uint32_t node);

// The blocks that the first one leads to, in this order.
std::vector<Block> in_order(std::vector<Block> blocks, const std::vector<uint32_t>& order);

// Without values that nothing uses, and locals that nothing reads.
void leave_out_unused(Function& function);

Status check_size(const Function& function);

}  // namespace blip::script
