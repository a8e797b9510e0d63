// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "probe/module.h"

namespace blip::probe {

// Whether a handler of SIGSEGV, SIGBUS or SIGFPE in this program is one of those that only report a fault and
// let the program die, and do not care where it happened: every Rust program has one for stack overflows,
// sanitizers have theirs. Otherwise a handler may know the address of each instruction that may fault.
bool faults_are_only_reported(std::span<const Module> modules);

}  // namespace blip::probe
