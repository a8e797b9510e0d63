// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

// How many events a trace may hold, over all its processes.
struct EventLimit {
  uint64_t most = UINT64_MAX;
  uint64_t taken = 0;

  bool reached() const { return taken >= most; }
};

// Where a consumer's events come from, and what it shares with those of the trace's other processes. All of
// it outlives the consumer.
struct ConsumerInput {
  abi::Geometry geometry;
  uint8_t* region;  // blip's mapping of the data region
  pid_t pid;
  int32_t vpid;        // as the process sees itself
  uint64_t start_tsc;  // older records cannot be honest
  const std::vector<ctf::EventClass>& classes;
  ctf::TscClock& clock;
  EventLimit& limit;
};

// Drains the rings of one process, and of its children, into stream files, or hands the events to the live
// merge. Never makes the target wait or call.
class Consumer {
 public:
  explicit Consumer(const ConsumerInput& input);

  // Before the first drain: also write streams into `dir`. Files are called PREFIXcpuN; `first_stream` is the
  // number of the first of geometry.ring_count + 1 streams.
  Status write_to(const ctf::TraceDir& dir, const ctf::Uuid& uuid, const std::string& prefix,
                  uint64_t first_stream);
  // From now on, hand events to `live`.
  void show_to(LiveMerge* live) { live_ = live; }

  // One round, begun at `start`, a sample of the clock; returns the bytes drained. One sample serves all
  // consumers: what lies between the last two is converted fastest.
  uint64_t drain(ctf::ClockPair start);
  // The last round: nobody writes any more.
  void finish();

  // The first write that failed; the trace on disk is whole up to there.
  const std::optional<Error>& output_error() const { return output_error_; }
  // Events that were shown live are not counted here.
  ConsumerTotals totals() const;

 private:
  struct Layout {
    uint32_t fields_size = 0;  // without the pid
    int32_t name_offset = -1;  // of a thread's name to be filled in
    bool leads_with_pid = false;
  };

  void on_record(ctf::StreamWriter* out, uint64_t tsc, uint16_t class_id, int32_t pid, const uint8_t* record,
                 uint32_t size);
  void show(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record, uint32_t size);
  const uint8_t* with_thread_name(const Layout& layout, const uint8_t* record, uint32_t size);
  void flush(bool all);
  void tell_discarded(uint64_t now_ns);
  uint64_t drain_rings(bool last);
  ctf::StreamWriter* writer(uint32_t row) { return writers_.empty() ? nullptr : &writers_[row]; }

  abi::Geometry geometry_;
  uint8_t* region_;
  std::vector<uint32_t> record_sizes_;  // by class id
  std::vector<Layout> layouts_;         // by class id
  ctf::TscClock& clock_;
  ring::RecordClock now_;
  std::vector<ring::RingReader> rings_;
  std::vector<int32_t> ring_pids_;  // whose records come now
  std::optional<ring::SharedRingReader> shared_;
  std::vector<ctf::StreamWriter> writers_;  // one per ring, then the shared ring's
  LiveMerge* live_ = nullptr;
  std::optional<ThreadNames> names_;  // where a class records them
  std::vector<uint8_t> scratch_;
  ring::DrainStats stats_;
  uint64_t events_ = 0;
  EventLimit& limit_;
  uint64_t rounds_ = 0;
  std::optional<Error> output_error_;
};

}  // namespace blip::session
