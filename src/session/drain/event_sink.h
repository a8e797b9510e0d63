// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ctf/schema.h"

namespace blip::session {

// One event, as a drain makes it of a record; valid during the call.
struct Event {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint32_t row;      // of the ring that the record was in
  uint16_t class_id;
  int32_t pid;  // of its process, as that sees itself
  // Back to back as in a file, without the pid that EventClass::leads_with_pid is about.
  const uint8_t* fields;
  uint32_t size;
  uint64_t latency_ns = 0;             // if its class has a duration
  std::span<const uint64_t> frames{};  // of records that are handed on, if their class has a stack
};

// How many packets of a row are where they outlive blip: of the traced process alone, and of several.
struct StoredPackets {
  uint32_t own = 0;
  uint32_t several = 0;
};

// Takes the events of one process and its children: into files, before the eyes of the user, into histograms.
// The events of one row come in the order of time.
class EventSink {
 public:
  virtual ~EventSink() = default;

  // The trace has these classes; again before the first event of a new one.
  virtual void add_classes(const std::vector<ctf::EventClass>& all) = 0;
  virtual void put(const Event& event) = 0;
  // So many hits of the row were discarded since the beginning, the last of them before `time_ns` and between
  // the last event and the next one.
  virtual void set_discarded(uint32_t /*row*/, uint64_t /*cumulative*/, uint64_t /*time_ns*/) {}

  // Whether store() does anything: then rings keep what was drained until it is stored.
  virtual bool stores() const { return false; }
  // Brings all events of the row to where they outlive blip.
  virtual StoredPackets store(uint32_t /*row*/) { return {}; }

  // After a round: no event still to come is older.
  virtual void end_round(uint64_t /*complete_until_ns*/) {}
  // After the last one.
  virtual void finish() {}
};

}  // namespace blip::session
