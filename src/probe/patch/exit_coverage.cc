// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <map>

#include "probe/code/exits.h"
#include "probe/patch/coverage.h"

namespace blip::probe {
namespace {

// The points of all functions, each address once.
class Points {
 public:
  size_t add(FileAddr at, bool is_entry, const elf::Function& holder) {
    const auto [entry, is_new] = indices_.try_emplace({at, is_entry}, points.size());
    if (is_new) points.push_back({.addr = at, .is_entry = is_entry, .function = holder});
    return entry->second;
  }

  std::vector<Point> points;

 private:
  std::map<std::pair<FileAddr, bool>, size_t> indices_;
};

// Addresses differ, the cause is the same.
std::string cause(const std::string& reason) { return reason.substr(0, reason.find(" at 0x")); }

}  // namespace

Coverage coverage_of_exits(const Module& module, std::span<const elf::Function> functions,
                           const PlanOptions& options, x86::TrampolineSpace& space,
                           const std::function<void(const RefusedInstruction&)>& refused) {
  struct Wanted {
    FileAddr at;
    std::string refusal;
    std::vector<size_t> points;
  };
  ExitFinder finder(module);
  Points points;
  std::vector<Wanted> all;
  for (const elf::Function& f : functions) {
    if (finder.is_no_function(f)) continue;
    const FunctionExits exits = finder.exits_of(f);
    Wanted wanted{f.addr, exits.incomplete, {points.add(f.addr, true, f)}};
    for (const Exit& exit : exits.exits) wanted.points.push_back(points.add(exit.at, false, exit.holder));
    all.push_back(std::move(wanted));
  }
  const ModulePlan plan = plan_points(module, points.points, options, space);
  Coverage coverage;
  for (Wanted& f : all) {
    for (const size_t i : f.points) {
      const PlannedProbe& probe = plan.probes[i];
      if (f.refusal.empty() && probe.refused())
        f.refusal = fmt::format("{}: {} at {:#x}", points.points[i].is_entry ? "entry" : "exit",
                                probe.refusal, points.points[i].addr.value);
    }
    ++coverage.total;
    if (f.refusal.empty()) continue;
    ++coverage.refusals[cause(f.refusal)];
    if (refused) refused({f.at, f.refusal});
  }
  return coverage;
}

}  // namespace blip::probe
