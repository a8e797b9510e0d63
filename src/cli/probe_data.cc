// SPDX-License-Identifier: MIT
#include "cli/probe_data.h"

namespace blip::cli {
namespace {

using session::ProbeKind;
using session::ProbeRequest;

Error usage(std::string message) { return Error(ErrorKind::kUsage, std::move(message)); }

Error second_filter() { return usage("--filter: a probe has one filter; && puts two together"); }

bool is_of_returns(const std::string& filter) { return session::parse_filter(filter).has_value(); }

bool shows_data(const session::DataRequest& data) {
  return data.args || data.locals || !data.captures.empty();
}

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
  if (!probes.empty()) return set_filter(value, probes.back());
  if (!for_all_.condition.empty()) return second_filter();
  for_all_.condition = value;
  return {};
}

Status ProbeData::set_filter(const std::string& text, ProbeRequest& probe) {
  if (!probe.filter.empty() || !probe.data.condition.empty()) return second_filter();
  if (probe.kind != ProbeKind::kReturn) {
    if (is_of_returns(text))
      return usage(
          "--filter belongs to a --return before it: ret, latency_ns, depth and tail are known there only");
    probe.data.condition = text;
    return {};
  }
  auto filter = session::parse_filter(text);
  if (!filter) return filter.error().with_context("--filter");
  probe.filter = *std::move(filter);
  return {};
}

// One that only returns can pass is theirs alone.
Status ProbeData::spread_filter(Probes& probes) const {
  if (for_all_.condition.empty()) return {};
  const bool of_returns = is_of_returns(for_all_.condition);
  bool any = false;
  for (ProbeRequest& probe : probes) {
    if (of_returns && probe.kind != ProbeKind::kReturn) continue;
    any = true;
    if (probe.filter.empty() && probe.data.condition.empty()) TRY_OK(set_filter(for_all_.condition, probe));
  }
  if (!any) return usage("--filter: there is no --return that it could belong to");
  return {};
}

Status ProbeData::finish(Probes& probes) const {
  TRY_OK(spread_filter(probes));
  for (ProbeRequest& probe : probes) {
    session::DataRequest& data = probe.data;
    data.args |= for_all_.args;
    data.locals |= for_all_.locals;
    data.captures.insert(data.captures.begin(), for_all_.captures.begin(), for_all_.captures.end());
    if (probe.kind == ProbeKind::kReturn && shows_data(data))
      return usage("--return: --args, --locals and --capture of returns are not available in this version");
    if (probe.kind == ProbeKind::kEveryInstruction && !data.empty())
      return usage("--every-instruction: its events carry registers only: --context regs");
  }
  return {};
}

}  // namespace blip::cli
