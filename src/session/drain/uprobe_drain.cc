// SPDX-License-Identifier: MIT
#include "session/drain/uprobe_drain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/progress.h"
#include "proc/files/cpu.h"

namespace blip::session {

namespace {

constexpr int kLastRounds = 4;
constexpr uint64_t kLongestHitNs = 10'000'000;  // from a hit's time to the end of its record
constexpr uint64_t kRoundsPerLook = 16;         // at threads

template <typename T>
void store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// What the pad of `program` would have recorded.
void fill(std::vector<uint8_t>& record, const jit::Program& program, const probe::UprobeHit& hit) {
  record.assign(program.record_size, 0);
  store(record.data(), abi::make_header(static_cast<uint16_t>(program.class_id), hit.time_ns));
  // The kernel hands over registers, and memory is another one by now: nothing of what a program reads is
  // known.
  if (const size_t outputs = program.hit.outputs.size(); outputs != 0) {
    const uint64_t faults = (uint64_t{1} << outputs) - 1;
    store(&record[abi::kHitWordOffset], faults << abi::kHitFaultShift | program.record_size);
  }
  for (const jit::Field& field : program.fields) {
    uint8_t* at = &record[field.offset];
    switch (field.capture) {
      case jit::Capture::kRegister:
        store(at, hit.registers[field.reg]);
        break;
      case jit::Capture::kFlags:
        store(at, hit.flags);
        break;
      case jit::Capture::kConstant:
      case jit::Capture::kHitWord:
        store(at, field.value);
        break;
      case jit::Capture::kTid:
        store(at, hit.tid);
        break;
      case jit::Capture::kCpu:
        store(at, hit.cpu);
        break;
      case jit::Capture::kThreadKey:
        std::memcpy(at, hit.comm, sizeof hit.comm);
        break;
      case jit::Capture::kShortConstant:
      case jit::Capture::kLatency:
      case jit::Capture::kDepth:
      case jit::Capture::kStack:
      case jit::Capture::kNone:
        break;  // of returns and stacks, which uprobes are not asked for
    }
  }
}

}  // namespace

UprobeDrain::UprobeDrain(const DrainInput& input, probe::Uprobes& uprobes, const UprobePoints& points,
                         uint64_t ring_size)
    : EventDrain(input),
      uprobes_(uprobes),
      points_(points),
      ring_size_(ring_size),
      cpu_count_(proc::possible_cpus().value_or(1)) {}

std::vector<EventDrain::Stream> UprobeDrain::streams() const {
  std::vector<Stream> streams;
  for (uint32_t cpu = 0; cpu < cpu_count_; ++cpu) streams.push_back({fmt::format("cpu{}", cpu), cpu});
  return streams;
}

void UprobeDrain::on_hit(const probe::UprobeHit& hit) {
  if (hit.point >= points_.size() || hit.cpu >= cpu_count_) return;
  for (const jit::Program* program : points_[hit.point]) {
    fill(record_, *program, hit);
    const auto id = static_cast<uint16_t>(program->class_id);
    if (layouts_[id].has_hit_word) {
      put_packed(output(hit.cpu), hit.time_ns, id, hit.pid, record_, {});
    } else {
      put(output(hit.cpu), hit.time_ns, id, hit.pid, record_.data(), program->record_size);
    }
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
  flush(false);
  tell_complete();
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
  tell_discarded(uprobes_.discarded_by_cpu(), clock_.sample().ns);
  flush(true);
  end_live();
}

void UprobeDrain::tell_discarded(const std::vector<uint64_t>& discarded, uint64_t now_ns) {
  for (size_t cpu = 0; cpu < outputs_.size() && cpu < discarded.size(); ++cpu)
    outputs_[cpu].set_discarded(discarded[cpu], now_ns);
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
