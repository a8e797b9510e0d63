// SPDX-License-Identifier: MIT
#include "base/progress.h"

#include <utility>

namespace blip::progress {

Step::Step(std::string doing) : id_(Board::of_process().begin(std::move(doing), Clock::now())) {}
Step::~Step() { Board::of_process().end(id_); }

// Never destroyed: steps may end while the process does.
Board& Board::of_process() {
  static Board& board = *new Board;
  return board;
}

uint64_t Board::begin(std::string doing, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({++last_id_, std::move(doing), now});
  if (entries_.size() == 1) changed_.notify_one();
  return last_id_;
}

// Nobody is woken: who shows a step looks again soon.
void Board::end(uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; });
}

std::optional<Current> Board::current() const {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  return Current{entries_.back().doing, entries_.front().since};
}

void Board::wait_for_step() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return awake_ || !entries_.empty(); });
  awake_ = false;
}

void Board::wait_until(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return awake_; });
  awake_ = false;
}

void Board::wake() {
  const std::lock_guard lock(mutex_);
  awake_ = true;
  changed_.notify_one();
}

}  // namespace blip::progress
