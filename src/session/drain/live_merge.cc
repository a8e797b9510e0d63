// SPDX-License-Identifier: MIT
#include "session/drain/live_merge.h"

namespace blip::session {

void LiveMerge::add(Source source, uint64_t time_ns, uint16_t class_id, const uint8_t* record,
                    uint32_t size) {
  const Pending event{bytes_.size(), size, class_id};
  own_pending_ += class_of(event).of_blip;
  bytes_.insert(bytes_.end(), record, record + size);
  used_ += size;
  merge_.add(source, time_ns, event);
}

uint64_t LiveMerge::show_until(uint64_t until_ns, uint64_t limit) {
  uint64_t shown = 0;
  is_held_up_ = false;
  while (shown < limit && merge_.oldest() && merge_.oldest()->time <= until_ns) {
    if (is_full_ && is_full_()) {
      is_held_up_ = true;
      break;
    }
    const auto [time_ns, order, event] = merge_.take();
    show_one(time_ns, event);
    used_ -= event.size;
    if (class_of(event).of_blip) {
      --own_pending_;
      ++own_shown_;
    } else {
      ++shown;
    }
  }
  if (used_ <= bytes_.size() / 2) compact();
  return shown;
}

void LiveMerge::show_one(uint64_t time_ns, const Pending& event) {
  showing_ns_ = time_ns;
  show_event_({class_of(event),
               time_ns,
               {&bytes_[event.offset], event.size},
               place_of_ ? &place_of_ : nullptr,
               frames_of_ ? &frames_of_ : nullptr,
               name_of_ ? &name_of_ : nullptr});
}

// Removes the bytes of the events that were shown.
void LiveMerge::compact() {
  std::vector<uint8_t> rest;
  rest.reserve(used_);
  merge_.for_each([&](Pending& event) {
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(event.offset);
    event.offset = rest.size();
    rest.insert(rest.end(), begin, begin + event.size);
  });
  bytes_ = std::move(rest);
}

}  // namespace blip::session
