// SPDX-License-Identifier: MIT
// From the end of the loop to the summary.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/milliseconds.h"
#include "session/plan/environment.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

// As the option takes it.
std::string size_text(uint64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{}M", bytes >> 20) : fmt::format("{}k", bytes >> 10);
}

}  // namespace

void Session::Impl::add_totals(TracedProcess& process) {
  const DrainTotals more = process.events().totals();
  totals.events += more.events;
  totals.discarded += more.discarded;
  totals.skipped += more.skipped + process.lost_with_others();
  totals.malformed += more.malformed;
  totals.ring_needed = std::max(totals.ring_needed, more.ring_needed);
  for (std::string& warning : process.events().warnings()) warnings.push_back(std::move(warning));
  if (options.mode == Mode::kCount && !options.latencies) process.add_hits(hits);
  if (options.mode == Mode::kRecord || options.latencies) process.add_calls(calls);
}

std::string Session::Impl::buffer_advice() const {
  constexpr uint64_t kMargin = 4;  // a quarter more: no two runs are the same
  const std::string discarded = "events were discarded because the buffers were full: ";
  if (totals.discarded == 0) return {};
  if (totals.ring_needed == 0) return discarded + "try a larger --subbuf-size or fewer probes";
  const uint64_t wanted = (totals.ring_needed + totals.ring_needed / kMargin) / options.subbuf_count;
  const uint64_t enough = std::max(uint64_t{context.subbuf_size} * 2, std::bit_ceil(wanted));
  if (enough * options.subbuf_count <= kMaxRingSize)
    return discarded + fmt::format("--subbuf-size {} would have been enough", size_text(enough));
  return discarded +
         fmt::format(
             "{} MiB for each CPU would have been enough, more than blip takes. Name fewer functions, or "
             "record less of them with --filter",
             totals.ring_needed >> 20);
}

void Session::Impl::count(Summary& summary) const {
  for (size_t i = 0; i < hits.size(); ++i) {
    if (!hits[i]) continue;
    const ctf::EventClass& c = context.classes.classes()[i];
    const ProbeRequest& request = options.probes[context.classes.request_of(i)];
    summary.counts.push_back({c.name, context.classes.module_of(i), *hits[i],
                              request.kind == ProbeKind::kEveryInstruction, request.data.condition,
                              context.classes.address_of(i)});
    summary.events += *hits[i];
  }
}

void Session::Impl::tell_calls(Summary& summary) const {
  constexpr std::string_view kSuffix = ":return";
  const ctf::ClockSegment clock{.rate = context.latency_rate};
  const auto ns = [&](uint64_t latency) { return options.latencies ? clock.scaled(latency) : latency; };
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i]) continue;
    const ring::Histogram& all = calls[i]->latencies;
    std::string name = context.classes.classes()[i].name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    summary.calls.push_back({.name = std::move(name),
                             .module = context.classes.module_of(i),
                             .filter = options.probes[context.classes.request_of(i)].data.condition,
                             .address = context.classes.address_of(i),
                             .calls = all.count(),
                             .total_ns = ns(all.sum()),
                             .mean_ns = all.count() == 0 ? 0 : ns(all.sum()) / all.count(),
                             .p50_ns = ns(all.percentile(50)),
                             .p99_ns = ns(all.percentile(99)),
                             .max_ns = ns(all.max()),
                             .abandoned = calls[i]->abandoned,
                             .open = calls[i]->open});
    if (options.latencies) summary.events += all.count();
  }
}

namespace {

// Processes may have different code at one address: then none is the answer.
template <typename Processes, typename Ask>
std::string the_one(const Processes& processes, Ask ask) {
  std::string answer;
  for (const auto& process : processes) {
    std::string here = ask(*process);
    if (here.empty() || here == answer) continue;
    if (!answer.empty()) return {};
    answer = std::move(here);
  }
  return answer;
}

}  // namespace

std::string Session::Impl::place_of(uint64_t ip) const {
  return the_one(live, [&](const TracedProcess& p) { return p.place_of(TargetAddr(ip)); });
}

std::string Session::Impl::event_name(const ctf::EventClass& event_class, uint64_t ip) const {
  std::string place =
      the_one(live, [&](const TracedProcess& p) { return p.names().places().at(event_class.id, ip); });
  return place.empty() ? place : event_name_at(event_class.name, std::move(place));
}

// A child that was forked has what its parent has.
const std::vector<NamedFrame>& Session::Impl::frames_of(int32_t vpid, uint64_t address,
                                                        bool is_return) const {
  static const std::vector<NamedFrame> unknown(1);
  for (const auto& process : live)
    if (process->process().ns_pid() == vpid)
      return process->names().names_hold(address, merge->showing_ns())
                 ? process->frame_names().of(address, is_return)
                 : unknown;
  for (const auto& process : live)
    if (process->frame_names().has(address) && process->names().names_hold(address, merge->showing_ns()))
      return process->frame_names().of(address, is_return);
  return unknown;
}

void Session::Impl::finish(Summary& summary, const Hooks& hooks) {
  const auto begin = Clock::now();
  for (const auto& process : live) process->disarm(summary);
  summary.detach_ms = to_ms(Clock::now() - begin);
  if (hooks.detached) hooks.detached();
  for (const auto& process : live) retire(*process);
  end_lifecycle();
  if (merge) totals.events += context.limit.taken + merge->show_all(context.limit.most - context.limit.taken);
  if (merge && merge->late() != 0)
    warnings.push_back(
        fmt::format("{} events are not in the order of time: threads were held up in the middle of them for "
                    "longer than blip waits",
                    merge->late()));
  for (std::string& warning : warnings) summary.warnings.push_back(std::move(warning));
  if (output_error) {
    summary.warnings.push_back("the trace is incomplete: " + output_error->message());
    summary.failed = true;
  }
}

}  // namespace blip::session
