// SPDX-License-Identifier: MIT
// What `blip list --coverage` shows: how each instruction would be patched if it alone were probed. Reads
// files and, of a process, what /proc tells; nothing is stopped, attached to or changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/list/listing.h"

namespace blip::session {

struct RefusedInstruction {
  std::string place;     // SYMBOL+0xOFF
  uint64_t address = 0;  // run-time address in a process, the file's own address in a file
  std::string module;    // basename
  std::string reason;
};

struct InstructionCoverage {
  uint64_t functions = 0;
  uint64_t total = 0;
  std::map<PatchStep, uint64_t> steps;      // every step but kRefused
  std::map<std::string, uint64_t> reasons;  // of those that are refused, without addresses
  std::vector<RefusedInstruction> refused;  // with ListRequest::details
  std::vector<std::string> notes;           // what could not be looked at, for -v

  uint64_t refused_count() const;
  uint64_t traps() const;
  uint64_t jumps() const { return total - refused_count() - traps(); }
};

// Of the functions that match, their cold parts included; without a SPEC of all, also those that have no
// name. A file is taken to be loaded at an address of the kernel's choice.
Result<InstructionCoverage> find_coverage(const ListRequest& request);

}  // namespace blip::session
