// SPDX-License-Identifier: MIT
#include "session/process/armed_plans.h"

#include <algorithm>

#include "abi/layout.h"
#include "probe/code/functions.h"
#include "session/plan/requests.h"

namespace blip::session {

size_t ArmedPlans::target_count() const {
  size_t count = 0;
  each([&](const ProbePlan& plan) { count += plan.targets.size(); });
  return count;
}

std::string ArmedPlans::place_of(TargetAddr address) const {
  std::vector<const probe::Module*> modules;
  each([&](const ProbePlan& plan) {
    for (const probe::Module& module : plan.modules) modules.push_back(&module);
  });
  for (const probe::Module* module : modules) {
    const FileAddr in_file = module->to_file(address);
    if (!module->file().is_code(in_file)) continue;
    const auto function = probe::function_around(*module, in_file);
    if (function && *function) return probe::place_name(*module, **function, in_file);
  }
  return {};
}

// Class ids. One that was armed once counts, whatever came of its library.
std::vector<uint32_t> ArmedPlans::armed_classes(const EventSource& source) const {
  std::vector<uint32_t> armed;
  each([&](const ProbePlan& plan) {
    const std::vector<std::string> refusals = plan.refusals_after(source.report().refused);
    for (size_t i = 0; i < plan.handed_over.size(); ++i) {
      const uint32_t id = plan.handed_over[i].class_id;
      const bool is_armed = refusals[plan.points[i].target].empty();
      if (is_armed || (!late_.empty() && source.class_hits(id) != 0)) armed.push_back(id);
    }
  });
  std::sort(armed.begin(), armed.end());
  armed.erase(std::unique(armed.begin(), armed.end()), armed.end());
  return armed;
}

void ArmedPlans::add_hits(const EventSource& source, std::vector<std::optional<uint64_t>>& hits) const {
  for (uint32_t id : armed_classes(source)) {
    std::optional<uint64_t>& sum = hits[id - abi::kFirstClass];
    sum = sum.value_or(0) + source.class_hits(id);
  }
}

// That the calls of a class are remembered for: another one's where several probes ask for the same returns.
uint32_t ArmedPlans::frame_class(uint32_t id) const {
  uint32_t frame = id;
  each([&](const ProbePlan& plan) {
    if (frame != id) return;
    const auto found = plan.frame_classes.find(id);
    if (found != plan.frame_classes.end()) frame = found->second;
  });
  return frame;
}

// A call that could not be remembered is lost to all who share it, and counted for the first.
uint64_t ArmedPlans::lost_with_others(const EventSource& source) const {
  uint64_t lost = 0;
  each([&](const ProbePlan& plan) {
    for (const auto& [id, frame] : plan.frame_classes) lost += source.unpaired_calls(frame);
  });
  return lost;
}

void ArmedPlans::add_calls(const EventSource& source, const ClassTable& classes, const Options& options,
                           std::vector<std::optional<CallTotals>>& calls) const {
  for (uint32_t id : armed_classes(source)) {
    const size_t index = id - abi::kFirstClass;
    if (!asks_for_returns(options.probes[classes.request_of(index)])) continue;
    if (!calls[index]) calls[index].emplace();
    *calls[index] += source.class_calls(id, frame_class(id));
  }
}

}  // namespace blip::session
