// SPDX-License-Identifier: MIT
#pragma once

#include "abi/unwind.h"
#include "elf/call_frame.h"

namespace blip::unwind {

// A row of call frame information in the form that the target walks by. What needs other registers than rsp
// and rbp, or expressions that compilers and linkers do not write, is kUnsupported.
abi::UnwindRule rule_of(const elf::CallFrameRow& row, bool is_signal_frame);

// Of code without such information that is the way back from a signal handler: by where the kernel puts what
// it saves (struct rt_sigframe, behind the return address).
abi::UnwindRule signal_rule();

// Of code that keeps a chain of frames in rbp.
abi::UnwindRule frame_pointer_rule();

}  // namespace blip::unwind
