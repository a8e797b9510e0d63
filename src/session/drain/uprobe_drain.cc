// SPDX-License-Identifier: MIT
#include "session/drain/uprobe_drain.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/progress.h"
#include "proc/files/cpu.h"
#include "session/drain/uprobe_record.h"

namespace blip::session {

namespace {

constexpr int kLastRounds = 4;
constexpr uint64_t kLongestHitNs = 10'000'000;  // from a hit's time to the end of its record
constexpr uint64_t kRoundsPerLook = 16;         // at threads

}  // namespace

UprobeDrain::UprobeDrain(const DrainInput& input, probe::Uprobes& uprobes, const UprobePoints& points,
                         uint64_t ring_size)
    : EventDrain(input),
      uprobes_(uprobes),
      points_(points),
      ring_size_(ring_size),
      cpu_count_(proc::possible_cpus().value_or(1)) {
  maker_.add_classes(input.classes);
}

void UprobeDrain::add_classes(const std::vector<ctf::EventClass>& all) {
  EventDrain::add_classes(all);
  maker_.add_classes(all);
}

std::vector<StreamSink::Row> UprobeDrain::rows() const {
  std::vector<StreamSink::Row> rows;
  for (uint32_t cpu = 0; cpu < cpu_count_; ++cpu) rows.push_back({fmt::format("cpu{}", cpu), cpu});
  return rows;
}

void UprobeDrain::on_hit(const probe::UprobeHit& hit) {
  if (hit.point >= points_.size() || hit.cpu >= cpu_count_) return;
  for (const jit::Action* action : points_[hit.point]) {
    fill_record(record_, *action, hit);
    Event event{.time_ns = hit.time_ns,
                .row = hit.cpu,
                .class_id = static_cast<uint16_t>(action->class_id),
                .pid = hit.pid,
                .fields = nullptr,
                .size = 0};
    if (maker_.make(event, record_.data(), action->record_size)) sinks().put(event);
  }
}

// Hits lie in the ring in the order they got their room, which is nearly, but not quite, that of their times.
uint64_t UprobeDrain::drain_ring() {
  hits_.clear();
  const uint64_t bytes = uprobes_.drain([&](const probe::UprobeHit& hit) { hits_.push_back(hit); });
  std::stable_sort(hits_.begin(), hits_.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  for (const probe::UprobeHit& hit : hits_) on_hit(hit);
  return bytes;
}

uint64_t UprobeDrain::drain(ctf::ClockPair start) {
  if (++rounds_ % kRoundsPerLook == 0 && uprobes_.follow_threads().value_or(false)) ++rebound_;
  // Counted before the hits are taken, told behind them: the kernel's ring was full there.
  const std::vector<uint64_t> discarded = uprobes_.discarded_by_cpu();
  const uint64_t bytes = drain_ring();
  tell_discarded(discarded, start.ns);
  note_complete(start.ns);
  sinks().end_round(complete_until());
  return bytes;
}

// Hits have their times from just after they got their room: those behind an unfinished one are hardly older
// than the last one before it.
void UprobeDrain::note_complete(uint64_t start_ns) {
  if (uprobes_.stopped_early() && hits_.empty()) return;
  const uint64_t known = uprobes_.stopped_early() ? std::min(start_ns, hits_.back().time_ns) : start_ns;
  complete_until_ns_ = std::max(complete_until_ns_, known - std::min(known, kLongestHitNs));
}

void UprobeDrain::finish() {
  const progress::Step step("writing the rest of the trace");
  for (int i = 0; i < kLastRounds && drain_ring() > 0; ++i) {
  }
  tell_discarded(uprobes_.discarded_by_cpu(), clock().sample().ns);
  sinks().finish();
}

void UprobeDrain::tell_discarded(const std::vector<uint64_t>& discarded, uint64_t now_ns) {
  for (uint32_t cpu = 0; cpu < cpu_count_ && cpu < discarded.size(); ++cpu)
    sinks().set_discarded(cpu, discarded[cpu], now_ns);
}

DrainTotals UprobeDrain::totals() const {
  DrainTotals totals = written();
  for (size_t i = 0; i < points_.size(); ++i) totals.discarded += uprobes_.entry(i).discarded;
  return totals;
}

std::vector<std::string> UprobeDrain::warnings() const {
  if (rebound_ == 0) return {};
  return {
      "the thread that the kernel's uprobes belonged to ended: hits may be missing before they were moved to "
      "another one"};
}

}  // namespace blip::session
