// SPDX-License-Identifier: MIT
// From what the user wants probed to the instructions that are patched for it: one, or the entry and all
// exits of a function whose returns are asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/program/action.h"
#include "probe/code/module.h"
#include "probe/patch/pads.h"
#include "session/plan/targets.h"

namespace blip::session {

struct ProbePoint {
  enum class Role : uint8_t { kHit, kEnter, kReturn, kTailJump };

  size_t target = 0;  // that it serves
  probe::Point point;
  Role role = Role::kHit;
  bool is_conditional = false;  // an exit that is one only when it jumps
};

struct ExpandedTargets {
  std::vector<ProbePoint> points;    // those of a target together, the entry first
  std::vector<std::string> refused;  // by target; empty: not refused
};

// `options.probes[target.request].kind` says which targets are functions whose returns are asked for.
ExpandedTargets expand_targets(const Options& options, std::span<const Target> targets,
                               std::span<const probe::Module> modules);

// The action at one of a target's points. `action` is the target's own, `kept` what the entry keeps for the
// exits; the address is the point's.
jit::Action action_at(const ProbePoint& point, const jit::Action& action, const script::HitProgram& kept,
                      uint64_t ip);

// Latencies in expressions are in ns: how many of them a unit of the clock has, times 2^48.
void tell_rate(std::span<probe::Probe> probes, uint64_t latency_rate);

}  // namespace blip::session
