// SPDX-License-Identifier: MIT
#include "probe/patch/coverage.h"

#include <algorithm>

#include "base/parallel.h"
#include "probe/code/every_instruction.h"
#include "probe/code/function_rules.h"
#include "probe/code/module_code.h"
#include "probe/patch/plan.h"
#include "x86/ladder.h"

namespace blip::probe {

namespace {

constexpr size_t kPointsPerPiece = 4096;

// Addresses differ, the cause is the same.
std::string cause(const std::string& reason) { return reason.substr(0, reason.find(" at 0x")); }

void count(Coverage& coverage, const std::string& refusal, x86::Step step) {
  ++coverage.total;
  if (refusal.empty()) {
    ++coverage.steps[static_cast<size_t>(step)];
  } else {
    ++coverage.refusals[cause(refusal)];
  }
}

}  // namespace

size_t Coverage::refused() const {
  size_t sum = 0;
  for (const auto& [reason, n] : refusals) sum += n;
  return sum;
}

Coverage coverage_of(const ModulePlan& plan) {
  Coverage coverage;
  for (const PlannedProbe& probe : plan.probes) count(coverage, probe.refusal, probe.step);
  return coverage;
}

Coverage coverage_together(const Module& module, std::span<const elf::Function> functions,
                           const PlanOptions& options, x86::TrampolineSpace& space) {
  return coverage_of(plan_points(module, every_instruction(module, functions), options, space));
}

Coverage coverage_alone(const Module& module, std::span<const elf::Function> functions,
                        const PlanOptions& options, x86::TrampolineSpace& space,
                        const std::function<void(const RefusedInstruction&)>& refused) {
  const std::vector<Point> points = every_instruction(module, functions);
  std::vector<AddrRange> wanted;
  for (const elf::Function& f : functions)
    wanted.push_back({module.to_target(f.addr), module.to_target(f.addr + f.size)});
  std::sort(wanted.begin(), wanted.end());
  const FunctionRanges ranges = FunctionRanges::of(module);
  const IndirectEntries entries = IndirectEntries::of(module.file());
  const ModuleCode code(module, ranges, ranges.around(wanted), &entries);
  const FunctionRules rules(module, points);
  const bool is_go = module.file().is_go();
  const x86::RunOptions run_options{.singles_only = is_go,
                                    .faults_matter = options.faults_matter || is_go,
                                    .overflows_matter = options.overflows_matter || is_go,
                                    .shadow_stack = options.shadow_stack};
  std::vector<x86::Verdict> verdicts(points.size());
  for (const auto& segment : code.segments()) {
    const x86::Ladder ladder(*segment, run_options, space);
    parallel_pieces(points.size(), kPointsPerPiece, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        TargetAddr at = module.to_target(points[i].addr);
        if (!segment->contains(at)) continue;
        verdicts[i].refusal = rules.refusal_of(points[i]);
        if (!verdicts[i].refusal.empty()) continue;
        const auto insn = x86::decode(segment->bytes_from(at), at);
        if (insn && insn->is_endbr64 && !segment->is_entry(insn->end())) at = insn->end();
        verdicts[i] = ladder.alone(at);
      }
    });
  }
  Coverage coverage;
  for (size_t i = 0; i < points.size(); ++i) {
    count(coverage, verdicts[i].refusal, verdicts[i].step);
    if (refused && !verdicts[i].refusal.empty()) refused({points[i].addr, verdicts[i].refusal});
  }
  return coverage;
}

Module assume_loaded(const Module& module) {
  constexpr uint64_t kExecutable = 0x55d3'1c82'4000, kLibrary = 0x7f2b'86e1'5000;
  const AddrRange extent = module.extent();
  if (extent.begin.value - module.bias() != 0) return module;  // not position independent
  return module.moved_to(loads_as_program(module) ? kExecutable : kLibrary);
}

}  // namespace blip::probe
