// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "x86/rewrite.h"
#include "x86/runs.h"
#include "x86/text_state.h"
#include "x86/trampoline_space.h"

namespace blip::x86 {

// A way to lead a run into its pad, and what else it needs.
struct Proposal {
  Rewrite rewrite;
  std::optional<Rewrite> evicted;  // another run that moves to make room, not yet in the plan
  TargetAddr next_entry{};  // not 0: the jump of the run right behind, in the plan already, must lead here
};

// Ways to place a jump where fewer than 5 bytes may be changed (docs/design/patch_plan.md has drawings).
class Tactics {
 public:
  // `reach`: where trampolines may lie.
  Tactics(const CodeMap& map, const RunFinder& runs, AddrRange reach);

  // The first that fits; nothing if none does. Changes nothing.
  std::optional<Proposal> find(const Run& run, const TrampolineSpace& space) const;
  // A jump that needs no tactics.
  Rewrite near(const Run& run) const;
  // Takes note of what the plan does from now on.
  void commit(const Proposal& proposal, TrampolineSpace& space);
  void commit(const Rewrite& rewrite);
  void force_entry(TargetAddr start, TargetAddr entry);

  const TextState& state() const { return state_; }
  const std::vector<Rewrite>& rewrites() const { return rewrites_; }
  std::vector<Rewrite> take_rewrites() { return std::move(rewrites_); }

 private:
  std::optional<Proposal> springboard(const Run& run) const;
  std::optional<Proposal> pun(const Run& run, uint64_t prefixes, const TrampolineSpace& space) const;
  std::optional<Proposal> evict_neighbour(const Run& run) const;
  std::optional<Proposal> evict_next(const Run& run, const TrampolineSpace& space) const;
  bool is_room_for_jump(TargetAddr at, const Run& run) const;
  std::optional<Rewrite> evictee(TargetAddr head, const Run& run, TargetAddr& room) const;
  uint8_t rank_over(TargetAddr begin, TargetAddr end) const;
  std::optional<Rewrite> next_rewrite(const Run& run, bool& is_planned) const;
  AddrRange in_reach(TargetAddr from, int64_t distance, uint64_t width) const;
  void commit_jump_bytes(const Rewrite& rewrite);

  const CodeMap& map_;
  const RunFinder& runs_;
  AddrRange reach_;
  TextState state_;
  std::vector<Rewrite> rewrites_;
  std::unordered_map<uint64_t, size_t> by_start_;
  std::unordered_map<uint64_t, uint8_t> ranks_;  // of bytes changed by a rewrite of a rank above 0
};

}  // namespace blip::x86
