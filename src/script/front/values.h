// SPDX-License-Identifier: MIT
// Values of a handler that is being built, wherever they are.
#pragma once

#include <cstdint>

#include "script/ir/ir.h"
#include "state/types.h"

namespace blip::script {

struct Value {
  enum class Where : uint8_t {
    kNothing,
    kPool,     // FunctionBuilder::pool() computes it; it is the same in all blocks
    kText,     // `node` is a text of the program
    kObserve,  // `node` is a BlockOp without operands, which is the same in all blocks: kClock, kTid
    kBlock,    // a node of `block`, and of no other one
    kLocal,    // a local that nothing sets after it has been kept there
  } where = Where::kNothing;
  uint32_t node = kNone;
  uint32_t block = kNone;
  state::ValueType type = state::ValueType::kNumber;

  bool is_text() const { return type == state::ValueType::kText; }
};

}  // namespace blip::script
