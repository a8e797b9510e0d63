// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "session/drain/event_view.h"

namespace blip::session {

// Puts the records of all sources into one order of time before they are shown. What is younger than the time
// up to which every source is complete may still have an elder, and waits for a later round.
class LiveMerge {
 public:
  LiveMerge(EventSink sink, const std::vector<ctf::EventClass>& classes, PlaceNamer place_of = {},
            FrameNamer frames_of = {}, EventNamer name_of = {})
      : sink_(std::move(sink)),
        classes_(classes),
        place_of_(std::move(place_of)),
        frames_of_(std::move(frames_of)),
        name_of_(std::move(name_of)) {}

  // Not null: asked before each event; true: show() stops, and go_on() shows the rest of it later.
  void stop_when(std::function<bool()> is_full) { is_full_ = std::move(is_full); }
  void add(uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size);
  // Shows everything up to `until_ns`, at most `limit` events; returns how many. Those that blip makes itself
  // are shown, but not counted.
  uint64_t show(uint64_t until_ns, uint64_t limit);
  // The time of the event that the sink is looking at.
  uint64_t showing_ns() const { return showing_ns_; }
  // Events that came after a younger one had been shown.
  uint64_t late() const { return late_; }
  size_t pending() const { return pending_.size() - own_pending_; }
  bool is_held_up() const { return held_up_until_.has_value(); }
  uint64_t go_on(uint64_t limit) { return show(held_up_until_.value_or(0), limit); }

 private:
  struct Pending {
    uint64_t time_ns;
    uint64_t order;
    size_t offset;  // in bytes_
    uint32_t size;
    uint16_t class_id;
  };

  bool is_own(const Pending& p) const { return classes_[p.class_id - abi::kFirstClass].of_blip; }
  void sort_new();
  void forget(size_t shown);

  EventSink sink_;
  std::function<bool()> is_full_;
  std::optional<uint64_t> held_up_until_;
  const std::vector<ctf::EventClass>& classes_;
  PlaceNamer place_of_;
  FrameNamer frames_of_;
  EventNamer name_of_;
  std::vector<Pending> pending_;
  size_t own_pending_ = 0;  // of these, that blip has made itself
  size_t sorted_ = 0;       // so many of pending_, the first
  std::vector<uint8_t> bytes_;
  size_t used_ = 0;  // bytes of pending_
  uint64_t order_ = 0;
  uint64_t last_shown_ns_ = 0;
  uint64_t showing_ns_ = 0;
  uint64_t late_ = 0;
};

}  // namespace blip::session
