// SPDX-License-Identifier: MIT
#include "session/drain/pad_drain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/progress.h"
#include "jit/stubs.h"
#include "ring/counters.h"

namespace blip::session {

namespace {

// Between taking the time and publishing the record only an interrupt or the hypervisor can hold up a writer
// of an rseq ring; a thread that is scheduled away begins anew.
constexpr uint64_t kLongestSectionNs = 10'000'000;
constexpr uint64_t kRoundsPerRefresh = 16;  // of thread names

// As readers are told.
uint32_t ring_size_of(const ctf::EventClass& c) {
  const uint32_t most = ctf::ring_record_size(c);
  if (!c.has_hit_word) return most;
  const auto least = static_cast<uint32_t>(abi::Geometry::align_up(c.fixed_size, abi::kRecordAlign));
  return ring::dynamic_size(least, most);
}

std::optional<StackCache> stacks_in(const RingInput& rings) {
  if (rings.geometry.ring_size() == 0 || rings.geometry.stack_slots == 0) return std::nullopt;
  return StackCache(rings.geometry, rings.region);
}

}  // namespace

// Takes the records of a drain, and hands events on.
template <typename Sink>
struct PadDrain::Records {
  PadDrain& drain;
  Sink& sink;

  // Runs for every event of the trace: inlined into the readers' loops.
  [[gnu::always_inline]] void record(uint32_t row, uint64_t tsc, uint16_t class_id, int32_t pid,
                                     const uint8_t* record, uint32_t size) {
    Event event{.time_ns = drain.clock().to_ns(tsc),
                .row = row,
                .class_id = class_id,
                .pid = pid,
                .fields = nullptr,
                .size = 0};
    if (!drain.maker_.is_ready(class_id) && drain.maker_.tells_lives(class_id)) [[unlikely]] {
      drain.hear_life(event, record);
    } else if (drain.maker_.make(event, record, size)) [[likely]] {
      sink.put(event);
    } else {
      ++drain.malformed_;
    }
  }
  void set_discarded(uint32_t row, uint64_t hits, uint64_t time_ns) {
    sink.set_discarded(row, hits, time_ns);
  }
  bool stores() const { return sink.stores(); }
  StoredPackets store(uint32_t row) { return sink.store(row); }
};

PadDrain::PadDrain(const DrainInput& input, const RingInput& rings, const probe::RingFiller* filler)
    : EventDrain(input),
      pid_(input.pid),
      region_(rings.region),
      lives_(input.lives),
      filler_(filler),
      rings_(rings, input.clock.clocks().counter_is_monotonic),
      stacks_(stacks_in(rings)),
      maker_(input.latency_rate, stacks_ ? &*stacks_ : nullptr) {
  if (input.hands_on_records) maker_.hand_on_records();
  learn(input.classes);
}

void PadDrain::learn(const std::vector<ctf::EventClass>& all) {
  maker_.add_classes(all);
  // Those beyond the geometry are of other processes.
  for (const ctf::EventClass& c : all) {
    if (c.of_blip || c.id >= rings_.geometry().class_count) continue;
    rings_.set_record_size(c.id, ring_size_of(c));
    if (!maker_.has_name(c.id) || names_) continue;
    names_.emplace(pid_);
    maker_.name_threads([this](int32_t tid) -> const ThreadNames::Name& { return names_->of(tid); });
  }
}

void PadDrain::add_classes(const std::vector<ctf::EventClass>& all) {
  EventDrain::add_classes(all);
  learn(all);
}

std::vector<std::string> PadDrain::warnings() const {
  const uint64_t refused = stacks_ ? stacks_->refused() : 0;
  if (refused == 0) return {};
  return {fmt::format(
      "{} {} no backtrace: a trace has room for {} different stacks, or {} frames of them. Trace shorter, or "
      "fewer functions, with --context backtrace",
      refused, refused == 1 ? "event has" : "events have", rings_.geometry().stack_slots,
      rings_.geometry().stack_frames)};
}

std::vector<StreamSink::Row> PadDrain::rows() const {
  std::vector<StreamSink::Row> rows;
  for (uint32_t cpu = 0; cpu < rings_.geometry().ring_count; ++cpu)
    rows.push_back({fmt::format("cpu{}", cpu), cpu});
  rows.push_back({"shared", ctf::kNoCpu});
  return rows;
}

// What a hostile target makes up is told as what it says of itself.
void PadDrain::hear_life(const Event& event, const uint8_t* record) {
  constexpr size_t kMostHeard = 1 << 20;  // in a round
  if (!lives_ || lives_->heard.size() >= kMostHeard) {
    ++malformed_;
    return;
  }
  LifeRecord life{.time_ns = event.time_ns,
                  .kind = static_cast<LifeRecord::Kind>(event.class_id - lives_->first_class),
                  .root = pid_,
                  .vpid = event.pid};
  std::memcpy(&life.vtid, record + jit::kLifeTid, sizeof life.vtid);
  std::memcpy(&life.value, record + jit::kLifeValue, sizeof life.value);
  lives_->heard.push_back(life);
}

uint64_t PadDrain::drain(ctf::ClockPair start) {
  if (++rounds_ % kRoundsPerRefresh == 0 && names_) names_->refresh();
  round_start_ns_ = start.ns;
  const uint64_t bytes = to_sinks([&](auto& sink) {
    return rings_.drain(start.ns, Records<std::decay_t<decltype(sink)>>{*this, sink});
  });
  sinks().end_round(complete_until());
  if (const auto error = filler_ ? filler_->error() : std::nullopt) note_error(*error);
  return bytes;
}

// The rings of CPUs hand out all that was published before the round. The shared ring's reader holds records
// back while an older one is unfinished.
uint64_t PadDrain::complete_until() const {
  const uint64_t rings = round_start_ns_ - std::min(round_start_ns_, kLongestSectionNs);
  return rings_.rows() == 0 ? rings : std::min(rings, clock().to_ns(rings_.shared_complete_until()));
}

void PadDrain::finish() {
  const progress::Step step("writing the rest of the trace");
  clock().sample();
  to_sinks([&](auto& sink) { rings_.finish(Records<std::decay_t<decltype(sink)>>{*this, sink}); });
  sinks().finish();
}

DrainTotals PadDrain::totals() const {
  DrainTotals totals = written();
  const ring::CounterTotals counted = ring::CounterReader(rings_.geometry(), region_).totals();
  totals.malformed = rings_.stats().malformed + malformed_;
  totals.discarded += counted.discarded + rings_.stats().discarded;
  totals.skipped = counted.skipped;
  totals.ring_needed = rings_.ring_needed();
  return totals;
}

}  // namespace blip::session
