// SPDX-License-Identifier: MIT
#include "session/totals.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "ctf/clock.h"
#include "session/plan/purpose.h"
#include "session/plan/requests.h"

namespace blip::session {

namespace {

// As the option takes it.
std::string size_text(uint64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{}M", bytes >> 20) : fmt::format("{}k", bytes >> 10);
}

// Of the function whose returns the class is of.
std::string function_name(const ctf::EventClass& event_class) {
  constexpr std::string_view kSuffix = ":return";
  std::string name = event_class.name;
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

}  // namespace

Totals::Totals(const TraceContext& context)
    : context_(context),
      counts_hits_(counts_hits(context.options)),
      tells_calls_((writes_files(context.options) || context.options.latencies) &&
                   any_asks(context.options, asks_for_returns)) {}

void Totals::add(TracedProcess& process) {
  add(process.events().totals());
  const ArmedPlans& plans = process.plans();
  const EventSource& source = process.target().source();
  const size_t classes = context_.classes.classes().size();
  drained_.skipped += plans.lost_with_others(source);
  for (std::string& warning : process.events().warnings()) add_warning(std::move(warning));
  if (counts_hits_) {
    hits_.resize(classes);
    plans.add_hits(source, hits_);
  }
  if (tells_calls_) {
    calls_.resize(classes);
    plans.add_calls(source, context_.classes, context_.options, calls_);
  }
}

void Totals::add(const DrainTotals& more) {
  drained_.events += more.events;
  drained_.discarded += more.discarded;
  drained_.skipped += more.skipped;
  drained_.malformed += more.malformed;
  drained_.ring_needed = std::max(drained_.ring_needed, more.ring_needed);
}

void Totals::tell(Summary& summary, const std::optional<Error>& output_error) const {
  summary.warnings.insert(summary.warnings.end(), warnings_.begin(), warnings_.end());
  if (output_error) {
    summary.warnings.push_back("the trace is incomplete: " + output_error->message());
    summary.failed = true;
  }
  summary.events = drained_.events;
  summary.discarded = drained_.discarded;
  summary.skipped = drained_.skipped;
  summary.buffer_advice = buffer_advice();
  if (drained_.malformed != 0)
    summary.warnings.push_back(
        fmt::format("{} places in the buffers made no sense and were cut", drained_.malformed));
  tell_counts(summary);
  tell_calls(summary);
}

std::string Totals::buffer_advice() const {
  constexpr uint64_t kMargin = 4;  // a quarter more: no two runs are the same
  const std::string discarded = "events were discarded because the buffers were full: ";
  if (drained_.discarded == 0) return {};
  if (drained_.ring_needed == 0) return discarded + "try a larger --subbuf-size or fewer probes";
  const uint32_t count = context_.options.subbuf_count;
  const uint64_t wanted = (drained_.ring_needed + drained_.ring_needed / kMargin) / count;
  const uint64_t enough = std::max(uint64_t{context_.subbuf_size} * 2, std::bit_ceil(wanted));
  if (enough * count <= kMaxRingSize)
    return discarded + fmt::format("--subbuf-size {} would have been enough", size_text(enough));
  return discarded +
         fmt::format(
             "{} MiB for each CPU would have been enough, more than blip takes. Name fewer functions, or "
             "record less of them with --filter",
             drained_.ring_needed >> 20);
}

void Totals::tell_counts(Summary& summary) const {
  const ClassTable& classes = context_.classes;
  for (size_t i = 0; i < hits_.size(); ++i) {
    if (!hits_[i]) continue;
    const ctf::EventClass& c = classes.classes()[i];
    const ProbeRequest& request = context_.options.probes[classes.request_of(i)];
    summary.counts.push_back({c.name, classes.module_of(i), *hits_[i],
                              request.kind == ProbeKind::kEveryInstruction, request.data.condition,
                              classes.address_of(i)});
    summary.events += *hits_[i];
  }
}

void Totals::tell_calls(Summary& summary) const {
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!calls_[i]) continue;
    summary.calls.push_back(call_summary(i, *calls_[i]));
    if (context_.options.latencies) summary.events += calls_[i]->latencies.count();
  }
}

CallSummary Totals::call_summary(size_t index, const CallTotals& calls) const {
  const ctf::ClockSegment clock{.rate = context_.latency_rate};
  const auto ns = [&](uint64_t latency) {
    return context_.options.latencies ? clock.scaled(latency) : latency;
  };
  const ClassTable& classes = context_.classes;
  const ring::Histogram& all = calls.latencies;
  return {.name = function_name(classes.classes()[index]),
          .module = classes.module_of(index),
          .filter = context_.options.probes[classes.request_of(index)].data.condition,
          .address = classes.address_of(index),
          .calls = all.count(),
          .total_ns = ns(all.sum()),
          .mean_ns = all.count() == 0 ? 0 : ns(all.sum()) / all.count(),
          .p50_ns = ns(all.percentile(50)),
          .p99_ns = ns(all.percentile(99)),
          .max_ns = ns(all.max()),
          .abandoned = calls.abandoned,
          .open = calls.open};
}

}  // namespace blip::session
