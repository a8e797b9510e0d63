// SPDX-License-Identifier: MIT
#include "session/list/coverage.h"

#include <fmt/core.h>

#include "base/progress.h"
#include "elf/spec.h"
#include "probe/code/functions.h"
#include "probe/patch/coverage.h"
#include "session/list/list_source.h"
#include "session/plan/all_instructions.h"

namespace blip::session {

namespace {

class CoverageFinder {
 public:
  explicit CoverageFinder(const ListRequest& request) : request_(request) {}

  Result<InstructionCoverage> run() {
    TRY(source_, ListSource::open(request_));
    coverage_.notes = source_.notes();
    TRY_OK(find_functions());
    for (size_t m = 0; m < functions_.size(); ++m)
      if (!functions_[m].empty()) add_module(m);
    return std::move(coverage_);
  }

 private:
  Status find_functions() {
    functions_.resize(source_.modules.size());
    if (!request_.spec) {
      TRY(functions_[0], probe::all_functions(source_.modules.front()));
      for (elf::Function& f : functions_[0]) f.is_ifunc = false;  // its resolver is code like any other
      if (functions_[0].empty())
        return Error(ErrorKind::kNotFound,
                     fmt::format("{}: no function is known: it has neither symbols nor unwind tables",
                                 source_.modules.front().path()));
      return {};
    }
    TRY(const auto targets,
        functions_with_parts(source_.spec_of(request_), source_.modules, source_.context()));
    for (const probe::FunctionTarget& t : targets) functions_[t.module].push_back(t.function);
    return {};
  }

  void add_module(size_t m) {
    const probe::Module& module = source_.modules[m];
    const progress::Step step(fmt::format("judging the instructions of {} functions of {}",
                                          functions_[m].size(), module.basename()));
    const auto on_refused = [&](const probe::RefusedInstruction& r) {
      coverage_.refused.push_back(refused_of(module, r));
    };
    const probe::Coverage found = probe::coverage_alone(
        source_.loaded(m), functions_[m], source_.plan_options, *source_.space,
        request_.details ? on_refused : std::function<void(const probe::RefusedInstruction&)>());
    coverage_.functions += functions_[m].size();
    coverage_.total += found.total;
    for (size_t i = 0; i < found.steps.size(); ++i)
      coverage_.steps[patch_step(static_cast<x86::Step>(i))] += found.steps[i];
    for (const auto& [reason, count] : found.refusals) coverage_.reasons[reason] += count;
  }

  static RefusedInstruction refused_of(const probe::Module& module, const probe::RefusedInstruction& r) {
    const auto function = probe::function_around(module, r.addr);
    return {
        .place = function && *function ? probe::place_name(module, **function, r.addr) : module.basename(),
        .address = module.to_target(r.addr).value,
        .module = module.basename(),
        .reason = r.reason};
  }

  const ListRequest& request_;
  ListSource source_;
  std::vector<std::vector<elf::Function>> functions_;  // by module
  InstructionCoverage coverage_;
};

}  // namespace

uint64_t InstructionCoverage::refused_count() const {
  uint64_t sum = 0;
  for (const auto& [reason, count] : reasons) sum += count;
  return sum;
}

uint64_t InstructionCoverage::traps() const {
  const auto found = steps.find(PatchStep::kTrap);
  return found == steps.end() ? 0 : found->second;
}

Result<InstructionCoverage> find_coverage(const ListRequest& request) {
  return CoverageFinder(request).run();
}

}  // namespace blip::session
