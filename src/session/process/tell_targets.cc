// SPDX-License-Identifier: MIT
#include "session/process/tell_targets.h"

#include <fmt/core.h>

#include <map>

namespace blip::session {

namespace {

// The result for a --function that has inlined copies.
struct Copies {
  size_t functions = 0;  // armed, themselves
  size_t armed = 0;
  size_t refused = 0;
  std::string refusal;  // of the first
};

std::string what_became_of(const std::string& name, const Copies& copies) {
  const auto inlined = [&](size_t count) {
    return fmt::format("{}: {} inlined {}", name, count, count == 1 ? "copy is" : "copies are");
  };
  if (copies.armed == 0) return fmt::format("{} not probed: {}", inlined(copies.refused), copies.refusal);
  std::string text =
      fmt::format("{} probed too (--no-inline: only where it is called)", inlined(copies.armed));
  if (copies.refused != 0)
    text +=
        fmt::format("; {} {} not: {}", copies.refused, copies.refused == 1 ? "is" : "are", copies.refusal);
  return text;
}

}  // namespace

void tell_targets(const ProbePlan& plan, const std::vector<std::string>& refusals, const Options& options,
                  Armed& armed) {
  std::map<size_t, Copies> copies;  // by request
  for (size_t i = 0; i < plan.targets.size(); ++i)
    if (plan.targets[i].instance) copies[plan.targets[i].request];
  for (size_t i = 0; i < plan.targets.size(); ++i) {
    const Target& target = plan.targets[i];
    const auto of = copies.find(target.request);
    if (of == copies.end() || !target.instance) {
      armed.probes += refusals[i].empty();
      if (of != copies.end()) of->second.functions += refusals[i].empty();
      if (!refusals[i].empty()) armed.refused.push_back({name_of(target, plan.modules), refusals[i]});
    } else if (refusals[i].empty()) {
      ++of->second.armed;
    } else if (++of->second.refused == 1) {
      of->second.refusal = refusals[i];
    }
  }
  for (const auto& [request, c] : copies) {
    const std::string& name = options.probes[request].spec.text;
    if (c.functions == 0 && c.armed != 0) ++armed.probes;
    if (c.functions + c.armed == 0) {
      armed.refused.push_back({name, c.refusal});
    } else {
      armed.remarks.push_back(what_became_of(name, c));
    }
  }
}

}  // namespace blip::session
