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

constexpr int kLastRounds = 4;
constexpr size_t kMostPids = 1 << 20;
constexpr uint64_t kWatchdogNs = 100'000'000;
// Between taking the time and publishing the record only an interrupt or the hypervisor can hold up a writer
// of an rseq ring; a thread that is scheduled away begins anew.
constexpr uint64_t kLongestSectionNs = 10'000'000;
constexpr uint64_t kRoundsPerRefresh = 16;  // of thread names and all discarded counts
// What is drained keeps its room in the ring until it is in the files, at the latest when it takes this part
// of the ring, or after so long.
constexpr uint64_t kHeldPart = 16;
constexpr uint64_t kHeldNs = 1'000'000'000;

// As readers are told.
uint32_t ring_size_of(const ctf::EventClass& c) {
  const uint32_t most = ctf::ring_record_size(c);
  if (!c.has_hit_word) return most;
  const auto least = static_cast<uint32_t>(abi::Geometry::align_up(c.fixed_size, abi::kRecordAlign));
  return ring::dynamic_size(least, most);
}

struct Discarded {
  uint64_t hits = 0;
  uint64_t bytes = 0;  // that they would have taken, at most
};

Discarded discarded_in(const ring::CounterReader& counters, uint32_t row, std::span<const uint32_t> sizes) {
  Discarded sum;
  for (uint32_t id = 0; id < sizes.size(); ++id) {
    const uint64_t hits = counters.read(abi::kDiscarded, row, id);
    sum.hits += hits;
    sum.bytes += hits * ring::most_size(sizes[id]);
  }
  return sum;
}

}  // namespace

PadDrain::PadDrain(const DrainInput& input, const RingInput& rings)
    : EventDrain(input),
      pid_(input.pid),
      geometry_(rings.geometry),
      region_(rings.region),
      lives_(input.lives),
      filler_(rings.filler),
      now_{input.clock.clocks().counter_is_monotonic},
      shared_pid_(rings.vpid),
      pids_{rings.vpid},
      latency_scale_{.rate = input.latency_rate} {
  record_sizes_.resize(geometry_.class_count);
  record_sizes_[abi::kProcessClass] = sizeof(abi::ProcessRecord);
  set_sizes(input.classes);
  if (geometry_.ring_size() == 0) return;  // counting: nothing to drain
  for (uint32_t i = 0; i < geometry_.ring_count; ++i)
    rings_.emplace_back(geometry_, region_, i, record_sizes_, rings.start_tsc,
                        filler_ ? &filler_->complete() : nullptr);
  marks_.resize(geometry_.ring_count + 1);
  needs_.resize(geometry_.ring_count, BufferNeed(geometry_.ring_size()));
  needs_.emplace_back(uint64_t{geometry_.slot_count} * geometry_.slot_size);
  ring_pids_ = rings.ring_pids;
  ring_pids_.resize(geometry_.ring_count, rings.vpid);
  shared_.emplace(geometry_, region_, record_sizes_, rings.start_tsc);
  if (now_.monotonic) shared_->set_watchdog(kWatchdogNs);
  if (geometry_.stack_slots != 0) stacks_.emplace(geometry_, region_);
}

std::vector<std::string> PadDrain::warnings() const {
  const uint64_t refused = stacks_ ? stacks_->refused() : 0;
  if (refused == 0) return {};
  return {fmt::format(
      "{} {} no backtrace: a trace has room for {} different stacks, or {} frames of them. Trace shorter, or "
      "fewer functions, with --context backtrace",
      refused, refused == 1 ? "event has" : "events have", geometry_.stack_slots, geometry_.stack_frames)};
}

// Those beyond the geometry are of other processes.
void PadDrain::set_sizes(const std::vector<ctf::EventClass>& classes) {
  for (const ctf::EventClass& c : classes) {
    if (c.of_blip || c.id >= record_sizes_.size()) continue;
    record_sizes_[c.id] = ring_size_of(c);
    if (layouts_[c.id].name_offset >= 0 && !names_) names_.emplace(pid_);
  }
}

void PadDrain::add_classes(const std::vector<ctf::EventClass>& all) {
  EventDrain::add_classes(all);
  set_sizes(all);
}

std::vector<EventDrain::Stream> PadDrain::streams() const {
  std::vector<Stream> streams;
  for (uint32_t cpu = 0; cpu < geometry_.ring_count; ++cpu)
    streams.push_back({fmt::format("cpu{}", cpu), cpu});
  streams.push_back({"shared", ctf::kNoCpu});
  return streams;
}

// What pads cannot know is put in here.
const uint8_t* PadDrain::finished(const Layout& layout, const uint8_t* record, uint32_t size) {
  scratch_.assign(record, record + size);
  if (layout.name_offset >= 0) {
    uint8_t* field = &scratch_[static_cast<size_t>(layout.name_offset)];
    int32_t tid;
    std::memcpy(&tid, field, sizeof tid);
    const ThreadNames::Name& name = names_->of(tid);
    std::memcpy(field, name.data(), name.size());
  }
  if (layout.latency_offset >= 0) {
    uint8_t* field = &scratch_[static_cast<size_t>(layout.latency_offset)];
    uint64_t latency;
    std::memcpy(&latency, field, sizeof latency);
    latency = latency_scale_.scaled(latency);
    std::memcpy(field, &latency, sizeof latency);
  }
  return scratch_.data();
}

// Of the record in scratch_, which is told about them.
std::span<const uint64_t> PadDrain::frames_of(const Layout& layout) {
  uint32_t id;
  std::memcpy(&id, &scratch_[static_cast<size_t>(layout.stack_offset)], sizeof id);
  const StackCache::Entry& stack = stacks_->of(id);
  if (layout.stack_info_offset >= 0)
    std::memcpy(&scratch_[static_cast<size_t>(layout.stack_info_offset)], &stack.info, sizeof stack.info);
  return stack.frames;
}

// Runs for every event of the trace: inlined into the readers' loops.
[[gnu::always_inline]] inline void PadDrain::on_record(RingOutput* out, uint64_t tsc, uint16_t class_id,
                                                       int32_t pid, const uint8_t* record, uint32_t size) {
  const uint64_t time_ns = clock_.to_ns(tsc);
  if (layouts_[class_id].is_ready) [[likely]] {
    put(out, time_ns, class_id, pid, record, size);
  } else {
    put_unready(out, time_ns, class_id, pid, record, size);
  }
}

[[gnu::noinline]] void PadDrain::put_unready(RingOutput* out, uint64_t time_ns, uint16_t class_id,
                                             int32_t pid, const uint8_t* record, uint32_t size) {
  const Layout& layout = layouts_[class_id];
  if (layout.tells_lives) return hear_life(time_ns, class_id, pid, record);
  const bool has_stack = layout.stack_offset >= 0 && stacks_;
  if (layout.name_offset >= 0 || layout.latency_offset >= 0 || has_stack)
    record = finished(layout, record, size);
  if (!layout.has_hit_word) {
    put(out, time_ns, class_id, pid, record, size);
  } else if (!put_packed(out, time_ns, class_id, pid, {record, size},
                         has_stack ? frames_of(layout) : std::span<const uint64_t>())) {
    ++stats_.malformed;
  }
}

// What a hostile target makes up is told as what it says of itself.
void PadDrain::hear_life(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record) {
  constexpr size_t kMostHeard = 1 << 20;  // in a round
  if (!lives_ || lives_->heard.size() >= kMostHeard) {
    ++stats_.malformed;
    return;
  }
  LifeRecord life{.time_ns = time_ns,
                  .kind = static_cast<LifeRecord::Kind>(class_id - lives_->first_class),
                  .root = pid_,
                  .vpid = pid};
  std::memcpy(&life.vtid, record + jit::kLifeTid, sizeof life.vtid);
  std::memcpy(&life.value, record + jit::kLifeValue, sizeof life.value);
  lives_->heard.push_back(life);
}

// A hostile target may make up as many as it likes.
void PadDrain::hear_of(int32_t pid) {
  if (pids_.size() < kMostPids && pids_.insert(pid).second) new_pids_.push_back(pid);
}

// At most one ring's worth, released in pieces, so that the target has room soon.
ring::DrainStats PadDrain::drain_ring(uint32_t ring) {
  RingOutput* out = output(ring);
  int32_t& pid = ring_pids_[ring];
  const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
    if (id != abi::kProcessClass) [[likely]] {
      on_record(out, tsc, id, pid, record, size);
    } else {
      std::memcpy(&pid, record + offsetof(abi::ProcessRecord, pid), sizeof pid);
      hear_of(pid);
    }
  };
  const uint64_t piece = out ? geometry_.ring_size() / kHeldPart : geometry_.ring_size();
  if (out) rings_[ring].hold_drained();
  ring::DrainStats all;
  while (all.bytes < geometry_.ring_size()) {
    if (out) look_at_ring(ring);
    const ring::DrainStats some = rings_[ring].drain(sink, now_, piece, marks_[ring].next());
    all += some;
    const bool passed = out && pass_marks(ring);
    if (out && (release_all_ || rings_[ring].held() >= piece)) release(ring);
    if (some.bytes == 0 && !passed) break;
  }
  return all;
}

// The count first, then the place: what was discarded up to now lies in front of it.
void PadDrain::look_for_discarded(uint32_t row, uint64_t place) {
  Discarded found = discarded_in(ring::CounterReader(geometry_, region_), row, record_sizes_);
  if (row == geometry_.ring_count) {
    for (uint64_t n : shared_->discarded()) found.hits += n;
    found.bytes = found.hits * geometry_.slot_size;
    place = now_();
  } else if (const auto head = rings_[row].head()) {
    place = *head;
  }
  marks_[row].note({place, found.hits, ctf::HostClocks::monotonic_ns()});
  needs_[row].discarded(found.bytes);
}

// A hit can have been discarded only if the ring is nearly full; the counts of all classes are read now and
// then all the same.
void PadDrain::look_at_ring(uint32_t ring) {
  const ring::RingReader& reader = rings_[ring];
  needs_[ring].waiting(reader.backlog());
  if (reader.may_be_full() || rounds_ % kRoundsPerRefresh == 0) look_for_discarded(ring, reader.consumed());
  // A target that tells nonsense can have made the reader begin anew elsewhere.
  while (marks_[ring].next() && *marks_[ring].next() - reader.consumed() > geometry_.ring_size())
    tell(ring, marks_[ring].take());
}

// True: there was one where the reader is now.
bool PadDrain::pass_marks(uint32_t ring) {
  if (marks_[ring].next() != rings_[ring].consumed()) return false;
  tell(ring, marks_[ring].take());
  return true;
}

// Before a record of the shared ring, or when none older than `tsc` can come.
void PadDrain::pass_shared_marks(uint64_t tsc) {
  DiscardMarks& marks = marks_[geometry_.ring_count];
  while (marks.next() && *marks.next() <= tsc) tell(geometry_.ring_count, marks.take());
}

void PadDrain::tell(uint32_t row, const DiscardMarks::Mark& mark) {
  if (RingOutput* out = output(row)) out->set_discarded(mark.discarded, mark.time_ns);
}

// Into the files first, then to the target.
void PadDrain::release(uint32_t ring) {
  if (rings_[ring].held() == 0) return;
  RingOutput& out = *output(ring);
  flush_one(out, true);
  rings_[ring].release(
      {.own_packets = out.own_packets(), .several_packets = out.several_packets(), .pid = ring_pids_[ring]});
}

void PadDrain::release_shared() {
  if (shared_->unreleased() == 0) return;
  RingOutput& out = *output(geometry_.ring_count);
  flush_one(out, true);
  shared_->release({.own_packets = out.own_packets(), .several_packets = out.several_packets()});
}

uint64_t PadDrain::drain_rings(bool last) {
  ring::DrainStats round;
  for (uint32_t i = 0; i < rings_.size(); ++i) round += drain_ring(i);
  if (shared_) {
    RingOutput* out = output(geometry_.ring_count);
    if (out && (shared_->may_be_full() || rounds_ % kRoundsPerRefresh == 0))
      look_for_discarded(geometry_.ring_count, 0);
    const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
      if (marks_.back().next()) [[unlikely]]
        pass_shared_marks(tsc);
      int32_t pid;
      std::memcpy(&pid, record + shared_->pid_offset(), sizeof pid);
      if (pid != shared_pid_) hear_of(shared_pid_ = pid);
      on_record(out, tsc, id, pid, record, size);
    };
    const ring::DrainStats some = last ? shared_->finish(sink, now_) : shared_->drain(sink, now_);
    round += some;
    pass_shared_marks(shared_->complete_until());
    needs_.back().waiting(some.records * geometry_.slot_size);
    if (out && (release_all_ || shared_->unreleased() >= geometry_.slot_count / kHeldPart)) release_shared();
  }
  stats_ += round;
  return round.bytes;
}

uint64_t PadDrain::drain(ctf::ClockPair start) {
  if (++rounds_ % kRoundsPerRefresh == 0) {
    if (names_) names_->refresh();
  }
  release_all_ = start.ns - last_release_ns_ >= kHeldNs;
  if (release_all_) last_release_ns_ = start.ns;
  round_start_ns_ = start.ns;
  const uint64_t bytes = drain_rings(false);
  flush(false);
  tell_complete();
  if (const auto error = filler_ ? filler_->error() : std::nullopt) note_error(*error);
  return bytes;
}

// The rings of CPUs hand out all that was published before the round. The shared ring's reader holds records
// back while an older one is unfinished.
uint64_t PadDrain::complete_until() const {
  const uint64_t rings = round_start_ns_ - std::min(round_start_ns_, kLongestSectionNs);
  return shared_ ? std::min(rings, clock_.to_ns(shared_->complete_until())) : rings;
}

void PadDrain::finish() {
  const progress::Step step("writing the rest of the trace");
  clock_.sample();
  // Each ring hands out at most one ring's worth per call; bounded, for the target may write on if it could
  // not be restored.
  for (int i = 0; i < kLastRounds && drain_rings(false) > 0; ++i) {
  }
  drain_rings(true);
  tell_all_discarded();
  flush(true);
  end_live();
  for (uint32_t i = 0; i < rings_.size() && !outputs_.empty(); ++i) release(i);
}

void PadDrain::tell_all_discarded() {
  for (uint32_t row = 0; row < outputs_.size(); ++row) {
    look_for_discarded(row, 0);
    while (marks_[row].next()) tell(row, marks_[row].take());
  }
}

DrainTotals PadDrain::totals() const {
  DrainTotals totals = written();
  const ring::CounterTotals counted = ring::CounterReader(geometry_, region_).totals();
  totals.malformed = stats_.malformed;
  totals.discarded += counted.discarded + stats_.discarded;
  totals.skipped = counted.skipped;
  for (const BufferNeed& need : needs_) totals.ring_needed = std::max(totals.ring_needed, need.most());
  return totals;
}

}  // namespace blip::session
