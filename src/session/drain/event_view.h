// SPDX-License-Identifier: MIT
// One event on its way to whoever shows it, and the names that its numbers stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ctf/schema.h"
#include "session/symbolize/named_frame.h"

namespace blip::session {

// What is at an address of a traced process, SYMBOL+0xOFF; empty if it is not known any more.
using PlaceNamer = std::function<std::string(uint64_t)>;

// What events of a class that many places share are called at an address (session/symbolize/place_name.h); empty: not
// known.
using EventNamer = std::function<std::string(const ctf::EventClass&, uint64_t)>;

// One event for the live printer; valid during the call.
struct EventView {
  const ctf::EventClass& event_class;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  // Header and fields, at the offsets of event_class; if it has a hit word, back to back as in a file.
  std::span<const uint8_t> record;
  const PlaceNamer* place_of = nullptr;
  const FrameNamer* frames_of = nullptr;
  const EventNamer* name_of = nullptr;
};

using ShowEvent = std::function<void(const EventView&)>;

}  // namespace blip::session
