// SPDX-License-Identifier: MIT
// Finds where a program takes memory away from itself, or comes under a seccomp filter:
// docs/design/safe_reads.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probe/code/module.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// System calls that are led through pads (jit/unmap_pad.h).
struct WatchedSyscalls {
  std::vector<x86::SyscallSite> sites;
  std::string obstacle;  // why not all of them can be watched; empty: they can, and there are no others
};

// All calls that may take memory away (ring::kDooming). If there is an obstacle, there are no sites.
WatchedSyscalls find_unmap_sites(std::span<const Module> modules);

// All by which a filter may be installed (ring::kFiltering), and those that can be seen even if others
// cannot: that is an obstacle only in a program where something is called after filters.
WatchedSyscalls find_filter_sites(std::span<const Module> modules);

// True if the name of a module, or of a symbol in one, speaks of seccomp.
bool mentions_filters(std::span<const Module> modules);

// Says how code that came later takes memory away by itself, or that blip cannot tell. Empty if it does not.
std::string syscalls_of_its_own(const Module& module);

}  // namespace blip::probe
