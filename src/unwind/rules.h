// SPDX-License-Identifier: MIT
#pragma once

#include "abi/unwind.h"
#include "elf/call_frame.h"

namespace blip::unwind {

// Converts a row of call frame information to the form by which the target walks. Rows that need registers
// other than rsp and rbp, or expressions that compilers and linkers do not write, become kUnsupported.
abi::UnwindRule rule_of(const elf::CallFrameRow& row, bool is_signal_frame);

// The rule for the way back from a signal handler, for code that has no such information. The kernel decides
// where the registers are saved (struct rt_sigframe, behind the return address).
abi::UnwindRule signal_rule();

// The rule for code that keeps a chain of frames in rbp.
abi::UnwindRule frame_pointer_rule();

}  // namespace blip::unwind
