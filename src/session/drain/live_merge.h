// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "base/time_merge.h"
#include "session/drain/event_view.h"

namespace blip::session {

// Puts the events of all sources into one order of time before they are shown. An event that is younger than
// the time up to which every source is complete may still have an elder, and waits for a later round.
class LiveMerge {
 public:
  using Source = size_t;

  LiveMerge(ShowEvent show_event, const std::vector<ctf::EventClass>& classes, PlaceNamer place_of = {},
            FrameNamer frames_of = {}, EventNamer name_of = {})
      : show_event_(std::move(show_event)),
        classes_(classes),
        place_of_(std::move(place_of)),
        frames_of_(std::move(frames_of)),
        name_of_(std::move(name_of)) {}

  // Not null: asked before each event; true: show() stops, and a later one shows the rest.
  void stop_when(std::function<bool()> is_full) { is_full_ = std::move(is_full); }

  // A source that may still bring events of any time.
  Source open() { return merge_.open(); }
  // The source brings no more events; those that it brought stay.
  void close(Source source) { merge_.close(source); }
  void add(Source source, uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size);
  // The source has added all of its events that are older.
  void complete(Source source, uint64_t until_ns) { merge_.complete(source, until_ns); }

  // Shows every event up to the time that all sources have reached, at most `limit` events; returns how many.
  // Those that blip makes itself are shown, but not counted here.
  uint64_t show(uint64_t limit) { return show_until(merge_.watermark(), limit); }
  // The same for all events: no source brings more.
  uint64_t show_all(uint64_t limit) { return show_until(UINT64_MAX, limit); }
  // The time of the event that is being shown.
  uint64_t showing_ns() const { return showing_ns_; }
  // Events that came after a younger one had been shown.
  uint64_t late() const { return merge_.late(); }
  // Those that blip makes itself, from the beginning on.
  uint64_t own_shown() const { return own_shown_; }
  size_t pending() const { return merge_.size() - own_pending_; }
  // The last show() ended because the reader could take no more.
  bool is_held_up() const { return is_held_up_; }

 private:
  struct Pending {
    size_t offset;  // in bytes_
    uint32_t size;
    uint16_t class_id;
  };

  const ctf::EventClass& class_of(const Pending& p) const { return classes_[p.class_id - abi::kFirstClass]; }
  uint64_t show_until(uint64_t until_ns, uint64_t limit);
  void show_one(uint64_t time_ns, const Pending& event);
  void compact();

  ShowEvent show_event_;
  std::function<bool()> is_full_;
  bool is_held_up_ = false;
  const std::vector<ctf::EventClass>& classes_;
  PlaceNamer place_of_;
  FrameNamer frames_of_;
  EventNamer name_of_;
  TimeMerge<Pending> merge_;
  size_t own_pending_ = 0;  // events that wait and that blip has made itself
  uint64_t own_shown_ = 0;
  std::vector<uint8_t> bytes_;
  size_t used_ = 0;  // bytes of events that wait
  uint64_t showing_ns_ = 0;
};

// One source of a merge, which outlives it: closed at the end.
class LiveSource {
 public:
  explicit LiveSource(LiveMerge& merge) : merge_(merge), source_(merge.open()) {}
  ~LiveSource() { merge_.close(source_); }
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  void add(uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size) {
    merge_.add(source_, time_ns, class_id, record, size);
  }
  void complete(uint64_t until_ns) { merge_.complete(source_, until_ns); }

 private:
  LiveMerge& merge_;
  LiveMerge::Source source_;
};

}  // namespace blip::session
