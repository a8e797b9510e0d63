// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probe/module.h"
#include "x86/syscall_sites.h"

namespace blip::probe {

// Where a program may take memory away from itself: docs/design/safe_reads.md.
struct UnmapSites {
  std::vector<x86::CloneSite> sites;
  std::string obstacle;  // why not all of them can be watched; empty: they can, and there are no others
};

// In the GNU C library and its loader the calls have one known form, and there is syscall(). All other
// code must not make such calls.
UnmapSites find_unmap_sites(std::span<const Module> modules);

// Whether other code makes any, or some that blip cannot tell: how. Empty: it does not.
std::string calls_of_its_own(const Module& module);

}  // namespace blip::probe
