// SPDX-License-Identifier: MIT
#include "cli/options/spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options/contexts.h"
#include "session/plan/contexts.h"

namespace blip::cli {
namespace {

using session::Context;
using session::ProbeKind;
using session::ProbeRequest;
using Probes = std::vector<ProbeRequest>;

// True if the probe can carry --args and --locals at all: see ProbeData::finish().
bool takes_args(const ProbeRequest& probe) { return probe.kind != ProbeKind::kEveryInstruction; }
bool takes_locals(const ProbeRequest& probe) { return takes_args(probe) && probe.kind != ProbeKind::kReturn; }

template <typename Has>
bool only_last(const Probes& probes, Has has) {
  return has(probes.back()) && std::none_of(probes.begin(), probes.end() - 1, has);
}

bool has_captures(const ProbeRequest& probe) { return !probe.data.captures.empty(); }
bool has_filter(const ProbeRequest& probe) { return !probe.data.condition.empty(); }

std::string holds_for_all(std::string_view option, size_t probes) {
  return fmt::format(
      "{} after the last probe holds for all {} probes (name a probe earlier to give it to that one alone)",
      option, probes);
}

std::string holds_for_last(std::string_view option, const ProbeRequest& last) {
  return fmt::format("{} holds for the last probe alone, {} (before the first probe it holds for all)",
                     option, last.spec.text);
}

// True if there was anything to spread.
bool spread_contexts(Probes& probes) {
  std::vector<Context> shared = probes.back().contexts;
  std::erase_if(shared, [](const Context& c) { return c.row->is_dear; });
  for (auto p = probes.begin(); p != probes.end() - 1; ++p) p->contexts = shared;
  return !shared.empty();
}

bool spread_flag(Probes& probes, bool session::DataRequest::*flag, bool (*takes)(const ProbeRequest&)) {
  bool any = false;
  for (auto p = probes.begin(); p != probes.end() - 1; ++p) any |= p->data.*flag = takes(*p);
  return any;
}

}  // namespace

std::vector<std::string> spread_from_last(Probes& probes, const GivenFirst& first) {
  std::vector<std::string> told;
  if (probes.size() < 2) return told;
  const auto has_contexts = [](const ProbeRequest& p) { return !p.contexts.empty(); };
  const auto has_args = [](const ProbeRequest& p) { return p.data.args; };
  const auto has_locals = [](const ProbeRequest& p) { return p.data.locals; };
  if (!first.contexts && only_last(probes, has_contexts) && spread_contexts(probes))
    told.push_back(holds_for_all("--context", probes.size()));
  if (!first.args && only_last(probes, has_args) &&
      spread_flag(probes, &session::DataRequest::args, takes_args))
    told.push_back(holds_for_all("--args", probes.size()));
  if (!first.locals && only_last(probes, has_locals) &&
      spread_flag(probes, &session::DataRequest::locals, takes_locals))
    told.push_back(holds_for_all("--locals", probes.size()));
  if (!first.captures && only_last(probes, has_captures))
    told.push_back(holds_for_last("--capture", probes.back()));
  if (!first.filter && only_last(probes, has_filter))
    told.push_back(holds_for_last("--filter", probes.back()));
  return told;
}

}  // namespace blip::cli
