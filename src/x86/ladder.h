// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "x86/code_map.h"
#include "x86/rewrite.h"
#include "x86/runs.h"
#include "x86/tactics.h"
#include "x86/trampoline_space.h"

namespace blip::x86 {

// The result for one instruction that is to be probed.
struct Verdict {
  std::string refusal;      // not empty: it cannot be, and why
  bool lacks_room = false;  // that is why: only tactics may help
  size_t rewrite = 0;       // index into LadderPlan::rewrites
  uint8_t offset = 0;       // in that rewrite
  Step step = Step::kWindow;
};

// Says when int3 may be used: never, where nothing else fits, for everything.
enum class TrapUse { kNever, kLast, kAlways };

struct LadderPlan {
  std::vector<Rewrite> rewrites;  // sorted by address
  std::vector<Verdict> verdicts;  // one per point, in their order
};

// Decides, for instructions of one segment, how control gets from each to its pad: the first step of the
// ladder that fits. Pure; the same input gives the same plan.
class Ladder {
 public:
  // `space`: where trampolines of punned jumps may be, which are found at the addresses the puns demand.
  Ladder(const CodeMap& map, const RunOptions& options, TrampolineSpace& space);

  // A place that somebody else has decided about.
  void reserve(const Rewrite& rewrite) { tactics_.commit(rewrite); }
  // All points together; once. Those reserved are not among them. `near_only`: what needs tactics is refused.
  LadderPlan plan(std::span<const TargetAddr> points, bool near_only = false,
                  TrapUse traps = TrapUse::kNever);
  // One point by itself, as if nothing else were probed: its step, or a refusal.
  Verdict alone(TargetAddr point) const;

 private:
  // Empty: it can be moved.
  std::string refusal_of(TargetAddr point) const;
  std::string no_room(const Run& run) const;
  void place(std::span<const Run> runs, bool near_only);
  std::vector<Rewrite> traps_for(std::span<const TargetAddr> points) const;

  const CodeMap& map_;
  RunOptions options_;
  RunFinder runs_;
  Tactics tactics_;
  TrampolineSpace& space_;
};

// The range in which trampolines for this code may lie: a pad near it must be in their reach too.
AddrRange trampoline_reach(AddrRange code);

}  // namespace blip::x86
