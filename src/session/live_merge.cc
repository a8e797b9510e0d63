// SPDX-License-Identifier: MIT
#include "session/live_merge.h"

#include <algorithm>

#include "abi/layout.h"

namespace blip::session {

void LiveMerge::add(uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size) {
  pending_.push_back({time_ns, order_++, bytes_.size(), size, class_id});
  bytes_.insert(bytes_.end(), record, record + size);
}

uint64_t LiveMerge::show(uint64_t until_ns, uint64_t limit) {
  std::sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
    return std::pair(a.time_ns, a.order) < std::pair(b.time_ns, b.order);
  });
  size_t shown = 0;
  for (; shown < pending_.size() && shown < limit && pending_[shown].time_ns <= until_ns; ++shown) {
    const Pending& p = pending_[shown];
    sink_({classes_[p.class_id - abi::kFirstClass],
           p.time_ns,
           {&bytes_[p.offset], p.size},
           place_of_ ? &place_of_ : nullptr,
           frames_of_ ? &frames_of_ : nullptr});
  }
  std::vector<uint8_t> rest;
  for (size_t i = shown; i < pending_.size(); ++i) {
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(pending_[i].offset);
    pending_[i].offset = rest.size();
    rest.insert(rest.end(), begin, begin + pending_[i].size);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(shown));
  bytes_ = std::move(rest);
  return shown;
}

}  // namespace blip::session
