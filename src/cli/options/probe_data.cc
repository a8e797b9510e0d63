// SPDX-License-Identifier: MIT
#include "cli/options/probe_data.h"

#include <algorithm>

#include "cli/options/usage_error.h"
#include "session/plan/filter.h"

namespace blip::cli {
namespace {

using session::ProbeKind;
using session::ProbeRequest;

bool is_return(const ProbeRequest& probe) { return probe.kind == ProbeKind::kReturn; }

}  // namespace

Status ProbeData::apply(OptionId option, const std::string& value, Probes& probes) {
  session::DataRequest& data = probes.empty() ? for_all_ : probes.back().data;
  switch (option) {
    case OptionId::kArgs:
      data.args = true;
      return {};
    case OptionId::kLocals:
      data.locals = true;
      return {};
    case OptionId::kCapture:
      if (value.empty()) return usage("--capture: the list of expressions is empty");
      data.captures.push_back(value);
      return {};
    default:
      break;
  }
  if (value.empty()) return usage("--filter: the expression is empty");
  if (!data.condition.empty()) return usage("--filter: a probe has one filter; && puts two together");
  data.condition = value;
  return {};
}

// A filter that is about returns belongs to returns alone, if there are any.
void ProbeData::spread_filter(Probes& probes) const {
  const bool only_returns =
      session::is_about_returns(for_all_.condition) && std::any_of(probes.begin(), probes.end(), is_return);
  for (ProbeRequest& probe : probes)
    if (probe.data.condition.empty() && (!only_returns || is_return(probe)))
      probe.data.condition = for_all_.condition;
}

GivenFirst ProbeData::given_first() const {
  return {.args = for_all_.args,
          .locals = for_all_.locals,
          .captures = !for_all_.captures.empty(),
          .filter = !for_all_.condition.empty()};
}

Status ProbeData::finish(Probes& probes) const {
  if (!for_all_.condition.empty()) spread_filter(probes);
  for (ProbeRequest& probe : probes) {
    session::DataRequest& data = probe.data;
    data.args |= for_all_.args;
    data.locals |= for_all_.locals;
    data.captures.insert(data.captures.begin(), for_all_.captures.begin(), for_all_.captures.end());
    if (is_return(probe) && data.locals)
      return usage(
          "--locals: a function has none any more when it returns: --line shows them where they are");
    if (probe.kind == ProbeKind::kEveryInstruction && !data.empty())
      return usage("--every-instruction: its events carry registers only: --context regs");
  }
  return {};
}

}  // namespace blip::cli
