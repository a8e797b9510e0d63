// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/layout.h"
#include "base/result.h"
#include "ctf/clock.h"
#include "ctf/metadata.h"
#include "ctf/stream_writer.h"
#include "ctf/trace_dir.h"
#include "ring/counters.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "session/live_merge.h"
#include "session/session.h"
#include "session/thread_names.h"

namespace blip::session {

struct ConsumerTotals {
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  uint64_t malformed = 0;
};

// Drains the rings of one trace into stream files, to the live printer, or both. Never makes the target wait
// or call.
class Consumer {
 public:
  // `region` is blip's mapping of the data region and must outlive the consumer, as must `classes`.
  // Records older than `start_tsc` cannot be honest.
  Consumer(const abi::Geometry& geometry, uint8_t* region, const std::vector<ctf::EventClass>& classes,
           pid_t pid, uint64_t start_tsc);

  // Before the first drain: also write streams into `dir`.
  Status write_to(const ctf::TraceDir& dir, const ctf::Uuid& uuid);
  // Before the first drain: also hand events to `sink`, over all rings in time order.
  void show_to(EventSink sink);
  void limit_events(uint64_t max_events) { max_events_ = max_events; }

  // One round; returns the bytes drained.
  uint64_t drain();
  // The last round: nobody writes any more.
  void finish();

  bool limit_reached() const { return events_ >= max_events_; }
  // The first write that failed; the trace on disk is whole up to there.
  const std::optional<Error>& output_error() const { return output_error_; }
  ConsumerTotals totals() const;
  int64_t realtime_offset() const { return clock_.realtime_offset(); }

 private:
  struct Layout {
    uint32_t fields_size = 0;
    int32_t name_offset = -1;  // of a thread's name to be filled in
  };

  void on_record(ctf::StreamWriter* out, uint64_t tsc, uint16_t class_id, const uint8_t* record,
                 uint32_t size);
  const uint8_t* with_thread_name(const Layout& layout, const uint8_t* record, uint32_t size);
  void flush(bool all);
  void tell_discarded(uint64_t now_ns);
  uint64_t drain_rings(bool last);
  ctf::StreamWriter* writer(uint32_t row) { return writers_.empty() ? nullptr : &writers_[row]; }

  abi::Geometry geometry_;
  uint8_t* region_;
  const std::vector<ctf::EventClass>& classes_;
  std::vector<uint32_t> record_sizes_;  // by class id
  std::vector<Layout> layouts_;         // by class id
  ctf::TscClock clock_;
  std::vector<ring::RingReader> rings_;
  std::optional<ring::SharedRingReader> shared_;
  std::vector<ctf::StreamWriter> writers_;  // one per ring, then the shared ring's
  std::optional<LiveMerge> live_;
  std::optional<ThreadNames> names_;  // where a class records them
  pid_t pid_;
  std::vector<uint8_t> scratch_;
  ring::DrainStats stats_;
  uint64_t events_ = 0;
  uint64_t max_events_ = UINT64_MAX;
  uint64_t rounds_ = 0;
  std::optional<Error> output_error_;
};

}  // namespace blip::session
