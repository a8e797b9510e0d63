// SPDX-License-Identifier: MIT
// The changes to be made in one module's code, and the probes that they serve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "elf/symbols.h"
#include "x86/rewrite.h"
#include "x86/stay_ahead.h"

namespace blip::probe {

// An instruction that somebody wants to probe.
struct Point {
  FileAddr addr;
  bool is_entry = false;   // of a function that is called: an endbr64 is skipped, the ABI says what is dead
  elf::Function function;  // the one that holds it
  x86::Shown shown{};      // of an entry, by its program
};

// One rewritten place: one jump, one pad, any number of probes in it.
struct Site {
  x86::Rewrite rewrite;
  std::vector<uint8_t> bytes;  // what stands at [rewrite.start, rewrite.end())
  std::vector<uint8_t>
      springboard_bytes;      // what stands at the springboard; empty: it is in another site's bytes
  std::vector<uint8_t> lead;  // the instructions from start on that run before the program
};

// The result for one Point.
struct PlannedProbe {
  std::string refusal;  // not empty: cannot be probed, and why
  size_t site = 0;      // index into ModulePlan::sites
  uint8_t offset = 0;   // of its instruction in the site
  x86::Step step = x86::Step::kWindow;
  bool flags_live = true;            // the code may read status flags it did not write
  bool skip_red_zone = true;         // there may be data below rsp
  bool moves_fault = false;          // in a program that handles faults (PlanOptions::accept_faults)
  uint16_t live_registers = 0xffff;  // bit n: general register n may be read before it is written

  bool refused() const { return !refusal.empty(); }
};

struct ModulePlan {
  std::vector<Site> sites;           // sorted by address; some serve no probe but make room for others
  std::vector<PlannedProbe> probes;  // one per Point, in their order
};

}  // namespace blip::probe
