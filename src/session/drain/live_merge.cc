// SPDX-License-Identifier: MIT
#include "session/drain/live_merge.h"

#include <algorithm>

#include "abi/layout.h"

namespace blip::session {

void LiveMerge::add(uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size) {
  pending_.push_back({time_ns, order_++, bytes_.size(), size, class_id});
  own_pending_ += is_own(pending_.back());
  bytes_.insert(bytes_.end(), record, record + size);
  used_ += size;
  if (time_ns < last_shown_ns_) ++late_;
}

// Much may wait for one slow source, and comes by here in every round: only what is new is sorted.
void LiveMerge::sort_new() {
  const auto earlier = [](const Pending& a, const Pending& b) {
    return std::pair(a.time_ns, a.order) < std::pair(b.time_ns, b.order);
  };
  const auto middle = pending_.begin() + static_cast<ptrdiff_t>(sorted_);
  std::sort(middle, pending_.end(), earlier);
  std::inplace_merge(pending_.begin(), middle, pending_.end(), earlier);
  sorted_ = pending_.size();
}

uint64_t LiveMerge::show(uint64_t until_ns, uint64_t limit) {
  sort_new();
  size_t shown = 0, own = 0;
  held_up_until_.reset();
  for (; shown < pending_.size() && shown - own < limit && pending_[shown].time_ns <= until_ns; ++shown) {
    if (is_full_ && is_full_()) {
      held_up_until_ = until_ns;
      break;
    }
    const Pending& p = pending_[shown];
    showing_ns_ = p.time_ns;
    sink_({classes_[p.class_id - abi::kFirstClass],
           p.time_ns,
           {&bytes_[p.offset], p.size},
           place_of_ ? &place_of_ : nullptr,
           frames_of_ ? &frames_of_ : nullptr,
           name_of_ ? &name_of_ : nullptr});
    last_shown_ns_ = std::max(last_shown_ns_, p.time_ns);
    used_ -= p.size;
    own += is_own(p);
  }
  own_pending_ -= own;
  forget(shown);
  return shown - own;
}

void LiveMerge::forget(size_t shown) {
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(shown));
  sorted_ = pending_.size();
  if (used_ > bytes_.size() / 2) return;
  std::vector<uint8_t> rest;
  rest.reserve(used_);
  for (Pending& p : pending_) {
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(p.offset);
    p.offset = rest.size();
    rest.insert(rest.end(), begin, begin + p.size);
  }
  bytes_ = std::move(rest);
}

}  // namespace blip::session
