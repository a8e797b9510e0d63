// SPDX-License-Identifier: MIT
// blip's half of the rings: copies what the target published, checks every byte of it, hands out records. The
// region may hold anything at any moment; nothing read from it is used twice. docs/design/ring.md has the
// protocol.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "ring/clock.h"
#include "ring/drain_stats.h"
#include "ring/record_size.h"

namespace blip::ring {

// Drains one rseq ring. Single-threaded; one reader per ring.
class RingReader {
 public:
  // `region`: blip's own mapping of the data region. `record_sizes`: by class id, as in record_size.h; must
  // outlive the reader. Records older than `start_tsc` are malformed. `complete`: the ring has all of its
  // memory (first_room.h); before that drained room is not given back.
  RingReader(const abi::Geometry& geometry, uint8_t* region, uint32_t ring,
             std::span<const uint32_t> record_sizes, uint64_t start_tsc = 0,
             const std::atomic<bool>* complete = nullptr);

  // Calls sink(uint64_t tsc, uint16_t class_id, const uint8_t* record, uint32_t size) for everything
  // published up to now, in time order. `record` is a private copy, valid during the call. At most one ring's
  // worth per call; ends soon after `most` bytes, and never goes beyond `until`, which head() told before.
  template <class Sink, class Clock = TscClock>
  DrainStats drain(Sink&& sink, Clock&& clock = {}, uint64_t most = UINT64_MAX,
                   std::optional<uint64_t> until = std::nullopt);

  // The position of the next record; nullopt if what the target says cannot be true.
  std::optional<uint64_t> head() const;
  // The position up to which records were drained.
  uint64_t consumed() const { return consumed_; }
  // True if hits may have been discarded since the last release, because not a whole sub-buffer is free.
  bool may_be_full() const;

  // From now on what is drained keeps its room in the ring until it is released: should blip die, whoever
  // finds the ring reads on from there.
  void hold_drained() { holds_ = true; }
  uint64_t held() const { return holds_ ? consumed_ - released_ : 0; }
  // All that was drained is in files; `note` tells in how much of them (its pos is set here).
  void release(abi::ReleaseNote note);

  // Bytes published and not yet drained; a hint for pacing, bounded by the ring's size.
  uint64_t backlog() const;

 private:
  // Why a walk stopped before the end of its chunk.
  enum class Stop { kEnd, kPadding, kMore, kBad };
  struct Walked {
    uint32_t offset;
    Stop stop;
  };
  // A piece of one sub-buffer: [begin, end) of the chunk copied, [begin, run_end) published.
  struct Run {
    uint64_t run_end;
    uint32_t chunk_size;
    bool whole_subbuf;  // run_end is the end of the sub-buffer, so a padding header must come
  };

  bool plausible(uint64_t pos) const;
  void resync(uint64_t pos, DrainStats& stats);
  void drained_to(uint64_t pos);
  void give_back(uint64_t pos);
  void note_growth();
  Run copy_chunk(uint64_t pos);
  void advance(const Run& run, Walked walked, DrainStats& stats);
  Stop classify(uint32_t offset, uint32_t size, uint32_t available, bool more_follows);
  uint32_t dynamic_size_at(uint32_t offset, uint32_t bounds, uint32_t available) const;
  uint32_t size_of(uint16_t class_id) const { return class_id < sizes_.size() ? sizes_[class_id] : 0; }

  template <class Sink>
  Walked walk(const Run& run, Sink&& sink, DrainStats& stats);

  abi::RingControl* control_;
  const uint8_t* data_;
  uint64_t ring_size_;
  uint64_t subbuf_size_;
  std::span<const uint32_t> sizes_;
  uint64_t consumed_;
  uint64_t released_;
  bool holds_ = false;
  const std::atomic<bool>* growing_;  // becomes true; null: the ring is complete
  TimeWindow window_;
  std::vector<uint8_t> chunk_;
};

template <class Sink, class Clock>
DrainStats RingReader::drain(Sink&& sink, Clock&& clock, uint64_t most, std::optional<uint64_t> until) {
  DrainStats stats;
  if (growing_) note_growth();
  const uint64_t pos = until ? *until : __atomic_load_n(&control_->pos, __ATOMIC_ACQUIRE);
  if (!plausible(pos)) {
    resync(pos, stats);
    return stats;
  }
  if (pos == consumed_) return stats;
  // Read after pos: no honest record before pos is younger.
  window_.limit = std::max(clock() + kFutureSlack, window_.last);
  const uint64_t begin = consumed_;
  while (consumed_ != pos && consumed_ - begin < most) {
    const Run run = copy_chunk(pos);
    advance(run, walk(run, sink, stats), stats);
  }
  return stats;
}

// Returns the size that the record's own hit word gives; the least size if the chunk ends before that word; 0
// if the word cannot be true.
inline uint32_t RingReader::dynamic_size_at(uint32_t offset, uint32_t bounds, uint32_t available) const {
  if (available < abi::kHitWordOffset + abi::kHitWordSize) return least_size(bounds);
  uint64_t untrusted_hit_word;
  std::memcpy(&untrusted_hit_word, &chunk_[offset + abi::kHitWordOffset], sizeof untrusted_hit_word);
  return size_of_hit(untrusted_hit_word, bounds);
}

template <class Sink>
RingReader::Walked RingReader::walk(const Run& run, Sink&& sink, DrainStats& stats) {
  const uint32_t end = run.chunk_size;
  uint32_t at = 0;
  uint64_t records = 0;
  Stop stop = Stop::kEnd;
  while (at < end) {
    uint64_t header;
    std::memcpy(&header, &chunk_[at], sizeof header);
    const uint16_t class_id = abi::header_class(header);
    uint32_t size = size_of(class_id);
    uint64_t age = window_.age(abi::header_time(header));
    // size - 1 wraps for the unknown class, so one comparison covers "unknown", "does not fit" and "dynamic".
    if (size - 1 >= end - at || !window_.in_order(age)) [[unlikely]] {
      if (is_dynamic(size)) size = dynamic_size_at(at, size, end - at);
      if (size - 1 >= end - at || !window_.in_order(age)) {
        stop = classify(at, size, end - at, consumed_ + end != run.run_end);
        if (stop != Stop::kEnd) break;
        age = window_.limit - window_.last;
      }
    }
    window_.last = window_.limit - age;
    sink(window_.last, class_id, static_cast<const uint8_t*>(&chunk_[at]), size);
    at += size;
    ++records;
  }
  stats.records += records;
  stats.bytes += at;
  return {at, stop};
}

}  // namespace blip::ring
