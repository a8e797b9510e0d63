// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/code/module.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// How pads of the process can read CLOCK_MONOTONIC: by the vDSO's function if its code may run in the middle
// of anything, else by a system call. kUnsupported where a seccomp filter may forbid that call, which the
// vDSO makes too when the kernel's clock source changes, and where the process has a CLOCK_MONOTONIC of its
// own.
Result<jit::MonotonicClock> find_monotonic_clock(const proc::Process& process, const proc::Memory& memory,
                                                 std::span<const Module> modules);

}  // namespace blip::probe
