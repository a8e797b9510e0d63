// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "probe/code/module.h"

namespace blip::probe {

// True if this program's handlers of SIGSEGV, SIGBUS and SIGFPE are of those that do not care where in the code
// of files a fault happened: they report the fault and let the program die, or look at the address of the
// instruction only in code made at run time, which is never moved. Other handlers may know the address of each
// instruction that may fault. docs/design/patch_plan.md has the list and why.
bool faults_are_only_reported(std::span<const Module> modules);

// Instructions whose addresses such a handler knows all the same (HotSpot's SafeFetch): they stay in place.
bool is_known_to_fault(const Module& module, const elf::Function& function);

}  // namespace blip::probe
