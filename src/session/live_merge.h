// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "session/session.h"

namespace blip::session {

// Puts the records of all rings into one order of time before they are shown. What is younger than the start
// of the round may still have an elder in a ring drained already, and waits for the next round.
class LiveMerge {
 public:
  LiveMerge(EventSink sink, const std::vector<ctf::EventClass>& classes, PlaceNamer place_of = {},
            FrameNamer frames_of = {})
      : sink_(std::move(sink)),
        classes_(classes),
        place_of_(std::move(place_of)),
        frames_of_(std::move(frames_of)) {}

  void add(uint64_t time_ns, uint16_t class_id, const uint8_t* record, uint32_t size);
  // Shows everything up to `until_ns`, at most `limit` events; returns how many.
  uint64_t show(uint64_t until_ns, uint64_t limit);

 private:
  struct Pending {
    uint64_t time_ns;
    uint64_t order;
    size_t offset;  // in bytes_
    uint32_t size;
    uint16_t class_id;
  };

  EventSink sink_;
  const std::vector<ctf::EventClass>& classes_;
  PlaceNamer place_of_;
  FrameNamer frames_of_;
  std::vector<Pending> pending_;
  std::vector<uint8_t> bytes_;
  uint64_t order_ = 0;
};

}  // namespace blip::session
