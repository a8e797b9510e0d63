// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace blip::session {

// One hit as a pad recorded it, on its way to its handler.
struct QueuedHit {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t stack;    // its number; 0: none
  uint32_t size;     // of the record
  int32_t pid;
  uint16_t class_id;
};

// Records of many rings in one order of time. What one ring brings is in order already, so that the queue is a list for each
// ring and a heap of rings: a run of records of one ring costs no more than a copy and a comparison.
class HitQueue {
 public:
  using Ring = size_t;

  Ring open_ring();
  // The ring brings nothing more. What it has brought stays until it is dropped; then the number may be used again.
  void close_ring(Ring ring);
  // A time before that of the ring's last record is taken for that one.
  void add(Ring ring, QueuedHit hit, const uint8_t* record);

  bool empty() const { return heap_.empty(); }
  uint64_t oldest_ns() const { return rings_[heap_.front()].front().time_ns; }
  const QueuedHit& oldest() const { return rings_[heap_.front()].front(); }
  // Of the oldest, until the next call of anything else. It begins at a multiple of 8.
  std::span<const uint8_t> oldest_record() const {
    const Rows& ring = rings_[heap_.front()];
    return {ring.bytes.data() + ring.begin + sizeof(QueuedHit), ring.front().size};
  }
  void drop_oldest();

  uint64_t bytes() const { return bytes_; }  // of all that wait
  uint64_t late() const { return late_; }    // times that went backwards

 private:
  struct Rows {
    std::vector<uint8_t> bytes;  // a QueuedHit and its record, one behind the other
    size_t begin = 0;            // of the first that is left
    uint64_t last_ns = 0;
    bool is_open = true;

    bool empty() const { return begin == bytes.size(); }
    const QueuedHit& front() const { return *reinterpret_cast<const QueuedHit*>(bytes.data() + begin); }
  };

  void sink_first();
  void emptied(Ring which);
  bool is_before(Ring a, Ring b) const { return rings_[a].front().time_ns < rings_[b].front().time_ns; }

  std::deque<Rows> rings_;
  std::vector<Ring> free_;  // closed and empty
  std::vector<Ring> heap_;  // rings that have records, the one with the oldest first
  uint64_t bytes_ = 0;
  uint64_t late_ = 0;
};

}  // namespace blip::session
