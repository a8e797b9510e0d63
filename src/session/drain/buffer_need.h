// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace blip::session {

// How large a ring should have been for what was discarded to find room. It would have held what was in this
// one and what was discarded since blip last was up with the target: so much is enough for the same load,
// whatever the reason was (a burst, a reader that did not get a CPU, a slow disk).
class BufferNeed {
 public:
  explicit BufferNeed(uint64_t ring_size) : ring_size_(ring_size) {}

  // Before a drain: the bytes of records that wait.
  void waiting(uint64_t bytes) {
    if (bytes < ring_size_ / kNearlyEmpty) caught_up_ = discarded_;
  }
  // The bytes of all records that were discarded so far.
  void discarded(uint64_t bytes) {
    if (bytes <= discarded_) return;
    discarded_ = bytes;
    most_ = std::max(most_, ring_size_ + (discarded_ - caught_up_));
  }

  // Bytes; 0: nothing was discarded.
  uint64_t most() const { return most_; }

 private:
  static constexpr uint64_t kNearlyEmpty = 8;

  uint64_t ring_size_;
  uint64_t discarded_ = 0;
  uint64_t caught_up_ = 0;  // discarded before the reader was up with the writers
  uint64_t most_ = 0;
};

}  // namespace blip::session
