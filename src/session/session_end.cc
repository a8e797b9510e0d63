// SPDX-License-Identifier: MIT
// From the end of the loop to the summary.
#include <fmt/core.h>

#include "session/environment.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

double to_ms(std::chrono::nanoseconds t) { return std::chrono::duration<double, std::milli>(t).count(); }

}  // namespace

void Session::Impl::add_totals(TracedProcess& process) {
  const ConsumerTotals more = process.consumer().totals();
  totals.events += more.events;
  totals.discarded += more.discarded;
  totals.skipped += more.skipped;
  totals.malformed += more.malformed;
  for (std::string& warning : process.consumer().warnings()) warnings.push_back(std::move(warning));
  if (options.mode == Mode::kCount) process.add_hits(hits);
}

void Session::Impl::count(Summary& summary) const {
  for (size_t i = 0; i < hits.size(); ++i) {
    if (!hits[i]) continue;
    const ctf::EventClass& c = context.classes.classes()[i];
    const ProbeKind kind = options.probes[context.classes.request_of(i)].kind;
    summary.counts.push_back(
        {c.name, context.classes.module_of(i), *hits[i], kind == ProbeKind::kEveryInstruction});
    summary.events += *hits[i];
  }
}

// Processes may have different code at one address.
std::string Session::Impl::place_of(uint64_t ip) const {
  std::string place;
  for (const auto& process : live) {
    std::string here = process->place_of(TargetAddr(ip));
    if (here.empty() || here == place) continue;
    if (!place.empty()) return {};
    place = std::move(here);
  }
  return place;
}

void Session::Impl::finish(Summary& summary) {
  const auto begin = Clock::now();
  for (const auto& process : live) process->disarm(summary);
  summary.detach_ms = to_ms(Clock::now() - begin);
  for (const auto& process : live) retire(*process);
  end_lifecycle();
  if (merge)
    totals.events += context.limit.taken + merge->show(UINT64_MAX, context.limit.most - context.limit.taken);
  for (std::string& warning : warnings) summary.warnings.push_back(std::move(warning));
  if (output_error) {
    summary.warnings.push_back("the trace is incomplete: " + output_error->message());
    summary.failed = true;
  }
}

}  // namespace blip::session
