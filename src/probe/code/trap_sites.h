// SPDX-License-Identifier: MIT
// Finds where traps may be put, and where a target asks for signal actions. See docs/design/traps.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probe/code/module.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// Why no trap may be put into this module; empty: they may.
std::string no_traps_in(const Module& module);

// The places where a target calls rt_sigaction.
struct SigactionSites {
  std::vector<x86::SyscallSite> sites;
  bool complete = false;  // there is one at least, and all can be led into pads
};
SigactionSites find_sigaction_sites(std::span<const Module> modules);

}  // namespace blip::probe
