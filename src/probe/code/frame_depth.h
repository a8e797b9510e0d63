// SPDX-License-Identifier: MIT
// The depth of the stack at an instruction, by the code that leads there and by the unwind table.
#pragma once

#include "x86/flow/stack_depth.h"

namespace blip::probe {

// The table says that there is a frame, whatever its size.
bool hint_is_frame(const x86::StackHint& hint);
// A frame is there, by both.
bool is_in_frame(const x86::FlowInsn& insn, const x86::StackDepth& depth);
// The depth by which both agree; unknown if they contradict each other.
x86::StackDepth agreed_depth(const x86::FlowInsn& insn, const x86::StackDepth& depth);

}  // namespace blip::probe
