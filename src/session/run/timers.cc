// SPDX-License-Identifier: MIT
#include "session/run/timers.h"

#include <algorithm>

namespace blip::session {

namespace {

constexpr uint64_t kLongestPeriod = uint64_t{1} << 62;
// So many in a row are still made up for.
constexpr uint64_t kMostInARow = 10'000;

}  // namespace

void Timers::add(size_t which, std::chrono::nanoseconds period) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(period.count(), 1));
  all_.push_back({.which = which, .period_ns = std::min(ns, kLongestPeriod)});
}

void Timers::start(uint64_t now_ns) {
  for (Timer& t : all_) t.due_ns = now_ns + t.period_ns;
  find_next();
}

std::optional<Timers::Due> Timers::next() const {
  if (!next_) return std::nullopt;
  return Due{all_[*next_].which, all_[*next_].due_ns};
}

void Timers::pass(uint64_t now_ns) {
  Timer& t = all_[*next_];
  t.due_ns += t.period_ns;
  const uint64_t missed = now_ns > t.due_ns ? (now_ns - t.due_ns) / t.period_ns : 0;
  if (missed > kMostInARow) {
    t.due_ns += missed * t.period_ns;
    left_out_ += missed;
  }
  find_next();
}

void Timers::find_next() {
  next_.reset();
  for (size_t i = 0; i < all_.size(); ++i)
    if (!next_ || all_[i].due_ns < all_[*next_].due_ns) next_ = i;
}

}  // namespace blip::session
