// SPDX-License-Identifier: MIT
#include "probe/patch/trace_probes.h"

#include <algorithm>

#include "base/give_back.h"
#include "jit/program/hit_needs.h"

namespace blip::probe {

namespace {

bool asks_kernel(const jit::Action& action) {
  if (jit::asks_kernel(action.hit) || action.stack_at != 0 || action.effect == jit::Effect::kTellLibraries)
    return true;
  return std::any_of(action.fields.begin(), action.fields.end(), [](const jit::Field& f) {
    return f.capture == jit::Capture::kTid || f.capture == jit::Capture::kThreadKey;
  });
}

}  // namespace

TraceProbes::TraceProbes(std::vector<Probe> probes, Spare spare) : spare_(spare) { add(std::move(probes)); }

void TraceProbes::add(std::vector<Probe> probes) {
  fresh_ = std::move(probes);
  for (size_t i = 0; i < fresh_.size(); ++i)
    fresh_[i].action.switch_index = static_cast<uint32_t>(first_fresh_ + i);
  for (const Probe& probe : fresh_) groups_.push_back(probe.group);
}

void TraceProbes::settle() {
  settled_record_ = recorded();
  settled_ask_kernel_ = ask_kernel();
  first_fresh_ += fresh_.size();
  free_contents(fresh_);
}

std::vector<size_t> TraceProbes::group_members(const std::set<size_t>& numbers) const {
  std::set<size_t> groups;
  for (const size_t i : numbers)
    if (groups_[i] != Probe::kAlone) groups.insert(groups_[i]);
  std::vector<size_t> members;
  for (size_t i = 0; i < groups_.size(); ++i)
    if (groups.contains(groups_[i])) members.push_back(i);
  return members;
}

bool TraceProbes::ask_kernel() const {
  if (settled_ask_kernel_ || (spare_.count != 0 && spare_.asks_kernel)) return true;
  return std::any_of(fresh_.begin(), fresh_.end(), [](const Probe& p) { return asks_kernel(p.action); });
}

bool TraceProbes::collect() const {
  return (spare_.count != 0 && spare_.asks_kernel) ||
         std::any_of(fresh_.begin(), fresh_.end(),
                     [](const Probe& probe) { return jit::collects(probe.action.hit); });
}

uint32_t TraceProbes::classes() const {
  uint32_t classes = 0;
  for (const Probe& probe : fresh_) classes = std::max(classes, probe.action.class_id + 1);
  return classes;
}

jit::Recorded TraceProbes::recorded() const {
  jit::Recorded recorded = settled_record_;
  for (const Probe& probe : fresh_) recorded |= jit::recorded_by(probe.action);
  return recorded;
}

}  // namespace blip::probe
