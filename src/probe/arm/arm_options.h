// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "base/stop.h"
#include "jit/program/environment.h"
#include "probe/inject/leftovers.h"

namespace blip::probe {

// Tables that blip makes and the target reads, for the stacks of hits.
struct UnwindMemory {
  std::span<uint8_t> tables;  // here, writable: an abi::UnwindHeader first
  TargetAddr stacks;          // of the abi::StackTable, in the target
  std::span<uint8_t> stacks_here;
  std::vector<AddrRange> pads;  // blip's own code
};
struct UnwindTablesWanted {
  uint64_t size = 0;                                  // whole pages; 0: nobody asks for stacks
  std::function<Status(const UnwindMemory&)> fill{};  // before anybody reads them
};

struct ArmOptions {
  abi::Geometry geometry;              // all but site_count and ring_count
  bool modules_complete = false;       // every mapped file could be read, so no clone-like call is unknown
  bool follow_fork = true;             // the children of forks record too
  bool monotonic_clock = false;        // records carry CLOCK_MONOTONIC instead of the TSC
  uint32_t spare_probes = 0;           // how many more may be added later
  uint32_t live_classes = UINT32_MAX;  // those from here on are for probes that are added later
  bool spares_ask_kernel = true;       // and may record the thread, or read memory
  UnwindTablesWanted unwind{};
  bool returns = false;                 // some probes, maybe such as come later, remember calls
  bool keeps_values = false;            // and values of their entries
  bool marks = false;                   // some probes, perhaps later ones, are static marks
  std::optional<jit::Births> births{};  // who is born is to tell
  KeptMemory kept{};                    // of earlier blips, to be left alone
  std::string schema{};  // tells a later blip what the records are; room for it is in the geometry
  // The longest that a thread may be stopped; none: for as long as it takes. What cannot be armed in such
  // stops, some of them one after the other, is refused.
  std::optional<std::chrono::nanoseconds> max_pause{};
  const StopRequest* stop =
      nullptr;  // the user's wish to end, which outlives the arming; null: there is none
};

}  // namespace blip::probe
