// SPDX-License-Identifier: MIT
#include "session/run/hit_queue.h"

#include <algorithm>
#include <utility>

namespace blip::session {

namespace {

constexpr size_t kAlign = 8;
constexpr size_t kWorthMoving = 1 << 20;  // bytes in front of those that are left
constexpr size_t kMostKept = 4 << 20;     // bytes of an empty ring

constexpr size_t room_of(uint32_t size) { return sizeof(QueuedHit) + (size + kAlign - 1) / kAlign * kAlign; }

static_assert(sizeof(QueuedHit) % kAlign == 0);

}  // namespace

HitQueue::Ring HitQueue::open_ring() {
  if (free_.empty()) {
    rings_.emplace_back();
    return rings_.size() - 1;
  }
  const Ring ring = free_.back();
  free_.pop_back();
  rings_[ring] = {};
  return ring;
}

void HitQueue::close_ring(Ring ring) {
  rings_[ring].is_open = false;
  if (rings_[ring].empty()) emptied(ring);
}

// Room that one burst has taken is not kept for ever.
void HitQueue::emptied(Ring which) {
  Rows& ring = rings_[which];
  ring.begin = 0;
  if (ring.bytes.capacity() > kMostKept || !ring.is_open) {
    ring.bytes = {};
  } else {
    ring.bytes.clear();
  }
  if (!ring.is_open) free_.push_back(which);
}

void HitQueue::add(Ring which, QueuedHit hit, const uint8_t* record) {
  Rows& ring = rings_[which];
  if (hit.time_ns < ring.last_ns) {
    ++late_;
    hit.time_ns = ring.last_ns;
  }
  ring.last_ns = hit.time_ns;
  const bool was_empty = ring.empty();
  if (ring.begin >= kWorthMoving && ring.begin >= ring.bytes.size() / 2) {
    ring.bytes.erase(ring.bytes.begin(), ring.bytes.begin() + static_cast<ptrdiff_t>(ring.begin));
    ring.begin = 0;
  }
  const size_t at = ring.bytes.size(), room = room_of(hit.size);
  ring.bytes.resize(at + room);
  std::memcpy(&ring.bytes[at], &hit, sizeof hit);
  std::memcpy(&ring.bytes[at + sizeof hit], record, hit.size);
  bytes_ += room;
  if (!was_empty) return;
  heap_.push_back(which);
  std::push_heap(heap_.begin(), heap_.end(), [this](Ring a, Ring b) { return is_before(b, a); });
}

void HitQueue::drop_oldest() {
  Rows& ring = rings_[heap_.front()];
  const size_t room = room_of(ring.front().size);
  ring.begin += room;
  bytes_ -= room;
  if (ring.empty()) {
    emptied(heap_.front());
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink_first();
    return;
  }
  sink_first();
}

// The ring in front has a later record now.
void HitQueue::sink_first() {
  size_t at = 0;
  for (;;) {
    size_t least = at;
    for (const size_t child : {2 * at + 1, 2 * at + 2})
      if (child < heap_.size() && is_before(heap_[child], heap_[least])) least = child;
    if (least == at) return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

}  // namespace blip::session
