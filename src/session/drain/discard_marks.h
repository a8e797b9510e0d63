// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace blip::session {

// Remembers where in one ring hits were discarded. The counter is read before the place: what it counts was
// discarded in front of that place, and where the ring is full exactly there, since its head stands still.
class DiscardMarks {
 public:
  struct Mark {
    uint64_t place;      // of the first record behind: a position, or a time
    uint64_t discarded;  // up to there, since the beginning
    uint64_t time_ns;    // when the counter was read
  };

  void note(const Mark& mark) {
    if (mark.discarded <= noted_) return;
    noted_ = mark.discarded;
    if (!marks_.empty() && marks_.back().place == mark.place)
      marks_.back() = mark;
    else
      marks_.push_back(mark);
  }

  // The nearest one; nullopt: there is none.
  std::optional<uint64_t> next() const {
    if (marks_.empty()) return std::nullopt;
    return marks_.front().place;
  }

  // Removes the nearest one.
  Mark take() {
    const Mark mark = marks_.front();
    marks_.pop_front();
    return mark;
  }

 private:
  std::deque<Mark> marks_;
  uint64_t noted_ = 0;
};

}  // namespace blip::session
