// SPDX-License-Identifier: MIT
// Which bytes will change, decided from the files alone: no process is touched, nothing is stopped.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "probe/module.h"
#include "probe/site.h"
#include "x86/window.h"

namespace blip::probe {

struct SitePlan {
  x86::Window window;
  std::vector<uint8_t> bytes;  // what stands at the window, padding included
  std::vector<uint8_t> lead;   // the instructions from the window's start on that run before the program
  std::string refusal;         // not empty: cannot be patched, and why

  bool refused() const { return !refusal.empty(); }
};

struct PlanOptions {
  bool shadow_stack = false;
  bool faults_matter =
      false;  // the program catches SIGSEGV, SIGBUS or SIGFPE and may look where they happened
  bool verdict_only = false;  // for looking at, not for arming: the sites lack what only a pad needs to know
};

// Entry sites for `functions` of one module, in their order. A window of several instructions is accepted
// only if nothing in the module can lead into it: direct branches at any byte offset, jump tables, landing
// pads, pointers in data, symbols, frame starts. See docs/design/patch_plan.md.
std::vector<SitePlan> plan_entries(const Module& module, std::span<const elf::Function> functions,
                                   const PlanOptions& options = {});

// The same as one site for each probe.
ModulePlan one_site_each(std::vector<SitePlan> plans);

}  // namespace blip::probe
