// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "ring/clock.h"
#include "ring/drain_stats.h"
#include "ring/record_size.h"

namespace blip::ring {

// Drains the shared ring. Single-threaded; one reader per region. Same distrust, same sink as RingReader.
class SharedRingReader {
 public:
  // About 100 ms: how long a claimed slot may hold up the ones after it.
  static constexpr uint64_t kDefaultWatchdogCycles = 300'000'000;

  // As for RingReader. A record longer than a slot holds counts as an unknown class. Behind each record
  // handed out, pid_offset() bytes from its start, lies the pid of its writer.
  SharedRingReader(const abi::Geometry& geometry, uint8_t* region, std::span<const uint32_t> record_sizes,
                   uint64_t start_tsc = 0);

  uint32_t pid_offset() const { return static_cast<uint32_t>(record_capacity_); }
  void set_watchdog(uint64_t cycles) { watchdog_ = cycles; }

  // Calls sink(uint64_t tsc, uint16_t class_id, const uint8_t* record, uint32_t size) for committed records
  // in time order. Records that something older may still follow are held for a later drain. At most one
  // ring's worth per call.
  template <class Sink, class Clock = TscClock>
  DrainStats drain(Sink&& sink, Clock&& clock = {});

  // The last drain: no thread can be in the runtime or between reserve and commit any more. Everything
  // committed goes out, every slot still busy counts as one discarded hit of its class.
  template <class Sink, class Clock = TscClock>
  DrainStats finish(Sink&& sink, Clock&& clock = {});

  // In units of the records' clock: nothing that is still to be handed out is older, but for what writers
  // commit later than the watchdog allows.
  uint64_t complete_until() const { return safe_; }

  // True if hits may have been discarded since the last drain, because much of the ring is claimed.
  bool may_be_full() const;

  // Tickets taken since the last release.
  uint64_t unreleased() const { return consumed_ - released_; }
  // All that was handed out is in files; `note` tells in how much of them (the rest of it is set here).
  void release(abi::SharedReleaseNote note);

  // Hits the consumer gave up, by class id; to be added to the shared ring's row of counters[kDiscarded].
  std::span<const uint64_t> discarded() const { return discarded_; }
  // Slots whose writer did not commit within the watchdog and may still do so.
  uint64_t leaked_slots() const { return leaked_.size(); }

 private:
  struct Pending {
    uint64_t time;   // 64 bits
    uint64_t order;  // of taking: keeps equal times in ticket order
    uint64_t ticket;
    uint32_t buffer;
    uint32_t size;
    uint16_t class_id;
    bool late;  // from a leaked slot
  };
  struct Leaked {
    uint64_t ticket;
    uint16_t class_id;
  };
  // The head is busy: since when, and below which ticket all were claimed before that.
  struct Wait {
    bool active = false;
    uint64_t since = 0;
    uint64_t horizon = 0;
  };
  // All tickets from `ticket` on were claimed after `time`.
  struct Mark {
    bool active = false;
    uint64_t ticket = 0;
    uint64_t time = 0;
  };
  enum class Step { kTaken, kBehind, kFree, kBusy };

  uint64_t* slot(uint64_t ticket) const;
  uint64_t buffer_size() const { return record_capacity_ + sizeof(uint64_t); }
  uint8_t* buffer(uint32_t index) { return &buffers_[index * buffer_size()]; }
  uint32_t acquire_buffer();
  uint32_t usable_size(uint16_t class_id) const;
  uint32_t copy_record(uint64_t ticket, uint32_t bounds, uint8_t* to) const;
  uint64_t max_pending() const { return 3 * slot_count_; }

  void collect(uint64_t now, DrainStats& stats);
  void collect_rest(DrainStats& stats);
  void finish_slot(uint64_t ticket, DrainStats& stats);
  void walk(uint64_t now, DrainStats& stats);
  Step step(uint64_t now, uint64_t claimed, DrainStats& stats);
  bool head_timed_out(uint64_t now);
  void revisit_leaked(bool last, DrainStats& stats);
  bool settle_leaked(const Leaked& leaked, bool last, DrainStats& stats);
  void free_slot(uint64_t ticket, uint64_t next_ticket);
  void free_leaked(uint64_t in_window);
  void heal(uint64_t ticket, DrainStats& stats);
  void take(uint64_t state, uint64_t ticket, bool late, DrainStats& stats);
  void give_up(uint16_t class_id, DrainStats& stats);
  void update_safe_time(uint64_t now);
  uint64_t end_of_claims(uint64_t from) const;
  bool is_free(uint64_t ticket) const;
  bool is_orderly(uint64_t from) const;
  bool skip_stranded(uint64_t ticket);
  void validate_fresh(uint64_t limit, DrainStats& stats);
  bool validate(Pending& pending, const TimeWindow& window, DrainStats& stats);

  template <class Sink>
  void emit(uint64_t until, Sink&& sink, DrainStats& stats);

  abi::SharedRing* ring_;
  uint8_t* slots_;
  uint64_t slot_size_;
  uint64_t slot_count_;
  uint64_t record_capacity_;
  std::span<const uint32_t> sizes_;
  uint64_t watchdog_ = kDefaultWatchdogCycles;

  uint64_t consumed_;  // the head: the next ticket to take
  uint64_t released_;
  uint64_t freed_ahead_;   // the last ticket that a leaked slot was freed with
  uint64_t walked_ahead_;  // no writer that walked over leaked slots has come to this one
  uint64_t emitted_ = 0;   // everything not later than this has been handed out
  bool head_free_ = false;
  Wait wait_;
  std::vector<Leaked> leaked_;
  std::vector<bool> slot_is_leaked_;

  uint64_t last_;      // time of the last record handed out
  uint64_t safe_ = 0;  // nothing still to come is older (late records excepted)
  Mark mark_;
  uint64_t taken_ = 0;
  std::vector<Pending> pending_;  // taken, not handed out; those from fresh_ on are not validated
  size_t fresh_ = 0;
  std::vector<uint32_t> free_buffers_;
  std::vector<uint8_t> buffers_;
  std::vector<uint64_t> discarded_;
};

template <class Sink, class Clock>
DrainStats SharedRingReader::drain(Sink&& sink, Clock&& clock) {
  DrainStats stats;
  const uint64_t now = clock();  // before any slot is looked at
  collect(now, stats);
  validate_fresh(clock() + kFutureSlack, stats);
  emit(safe_, sink, stats);
  // Only made-up times can fill the buffers without anything becoming due.
  if (pending_.size() >= max_pending() && stats.records == 0) emit(UINT64_MAX, sink, stats);
  return stats;
}

template <class Sink, class Clock>
DrainStats SharedRingReader::finish(Sink&& sink, Clock&& clock) {
  DrainStats stats;
  collect_rest(stats);
  validate_fresh(clock() + kFutureSlack, stats);
  emit(UINT64_MAX, sink, stats);
  return stats;
}

template <class Sink>
void SharedRingReader::emit(uint64_t until, Sink&& sink, DrainStats& stats) {
  std::sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  });
  size_t done = 0;
  for (; done < pending_.size() && pending_[done].time <= until; ++done) {
    const Pending& next = pending_[done];
    const uint32_t size = next.size;
    last_ = next.time;
    sink(next.time, next.class_id, static_cast<const uint8_t*>(buffer(next.buffer)), size);
    free_buffers_.push_back(next.buffer);
    ++stats.records;
    stats.bytes += size;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(done));
  emitted_ = std::max(emitted_, pending_.empty() ? last_ : std::min(until, pending_.front().time - 1));
  fresh_ = pending_.size();
}

}  // namespace blip::ring
