// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/layout.h"
#include "base/result.h"
#include "ctf/clock.h"
#include "ctf/event_packer.h"
#include "ring/histogram.h"
#include "session/drain/live_merge.h"
#include "session/drain/ring_output.h"
#include "session/watch/life_record.h"
#include "session/watch/thread_names.h"

namespace blip::session {

struct DrainTotals {
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  uint64_t malformed = 0;
  uint64_t ring_needed = 0;  // bytes of each CPU's ring that would have been enough; 0: not known
};

// How many events a trace may hold, over all its processes.
struct EventLimit {
  uint64_t most = UINT64_MAX;
  uint64_t taken = 0;

  bool reached() const { return taken >= most; }
};

// ns per unit of the records' clock, times 2^ClockSegment::kShift, as far as the clock knows by now.
uint64_t measured_latency_rate(const ctf::TscClock& clock);

// What a drain shares with those of the trace's other processes. All of it outlives the drain.
struct DrainInput {
  pid_t pid;
  int32_t vpid;  // as the process sees itself
  const std::vector<ctf::EventClass>& classes;
  ctf::TscClock& clock;
  EventLimit& limit;
  uint64_t latency_rate = 0;     // see TraceContext
  LifeRecords* lives = nullptr;  // where records go that tell of lives; null: there are none
};

// Brings the events of one process, and of its children, into stream files, or hands them to the live merge.
// Where they come from is the matter of the derived class. Never makes the target wait or call.
class EventDrain {
 public:
  virtual ~EventDrain() = default;

  // The trace has more classes now; before the first of their events.
  virtual void add_classes(const std::vector<ctf::EventClass>& all);

  // Before the first drain: also write streams, with stream_count() numbers from output.first_stream on.
  Status write_to(TraceOutput output);
  uint64_t stream_count() const { return streams().size() * RingOutput::kStreamsPerRing; }
  // From now on, hand events to `live`, until finish().
  void show_to(LiveMerge& live) { live_ = std::make_unique<LiveSource>(live); }

  // One round, begun at `start`, a sample of the clock; returns the bytes drained. One sample serves all
  // drains: what lies between the last two is converted fastest.
  virtual uint64_t drain(ctf::ClockPair start) = 0;
  // After a round: no event still to come has an earlier time, in ns; what a thread left unfinished for very
  // long excepted.
  virtual uint64_t complete_until() const = 0;
  // The last round: nobody writes any more.
  virtual void finish() = 0;
  // How many bytes wait at most, of one CPU; 0: counting, there is nothing to drain.
  virtual uint64_t ring_size() const = 0;

  // The first write that failed; the trace on disk is whole up to there.
  const std::optional<Error>& output_error() const { return output_error_; }
  // Events that were shown live are not counted here.
  virtual DrainTotals totals() const = 0;
  // Of the events of a class with a latency that were written, in ns.
  const ring::Histogram& latencies(uint32_t class_id) const { return latencies_[class_id]; }
  // Pids of other processes than the traced one, in their own words, whose first event has come since the
  // last call.
  virtual std::vector<int32_t> take_heard_of() { return {}; }
  // What the user must know of how the events came.
  virtual std::vector<std::string> warnings() const { return {}; }

 protected:
  // The first error counts.
  void note_error(const Error& error) {
    if (!output_error_) output_error_ = error;
  }
  // Of a class: how its records in rings differ from its events. Offsets are those of the records.
  struct Layout {
    uint32_t fields_size = 0;     // without the pid
    int32_t name_offset = -1;     // of a thread's name to be filled in
    int32_t latency_offset = -1;  // of a time to be converted to ns
    int32_t stack_offset = -1;    // of a stack's id, whose frames are to be put in
    int32_t stack_info_offset = -1;
    bool leads_with_pid = false;
    bool has_hit_word = false;  // to be packed
    bool tells_lives = false;
    bool is_ready = true;  // the record is the event: it has none of the above but a pid to be put in front
    // Whether an event in the trace has the pid in front: in a stream of one process, of several.
    std::array<bool, 2> pid_in_event{};
  };
  struct Stream {
    std::string name;
    uint32_t cpu;
  };

  explicit EventDrain(const DrainInput& input);

  virtual std::vector<Stream> streams() const = 0;

  // One event: a record as rings hold it. Inlined into the readers' loops.
  [[gnu::always_inline]] void put(RingOutput* out, uint64_t time_ns, uint16_t class_id, int32_t pid,
                                  const uint8_t* record, uint32_t size) {
    const Layout& layout = layouts_[class_id];
    if (out && !limit_.reached()) {
      write(*out, time_ns, class_id, pid, record + abi::kHeaderSize, layout.fields_size);
      if (layout.latency_offset >= 0) [[unlikely]]
        add_latency(class_id, record + layout.latency_offset);
    }
    if (live_) show(time_ns, class_id, pid, record, size);
  }
  // The same for a record with a hit word; `frames` is what the rings do not hold. False: it is malformed.
  bool put_packed(RingOutput* out, uint64_t time_ns, uint16_t class_id, int32_t pid,
                  std::span<const uint8_t> untrusted_record, std::span<const uint64_t> frames);
  // After a round, and after the last one.
  void tell_complete() {
    if (live_) live_->complete(complete_until());
  }
  void end_live() { live_.reset(); }
  void flush(bool all);
  void flush_one(RingOutput& output, bool all);
  // What reached the files, and what got lost on the way there.
  DrainTotals written() const;
  RingOutput* output(uint32_t row) { return outputs_.empty() ? nullptr : &outputs_[row]; }

  std::vector<Layout> layouts_;  // by class id
  ctf::TscClock& clock_;
  std::vector<RingOutput> outputs_;  // one per stream of streams()

 private:
  [[gnu::always_inline]] void write(RingOutput& out, uint64_t time_ns, uint16_t class_id, int32_t pid,
                                    const uint8_t* fields, uint32_t size) {
    if (ctf::StreamWriter* writer = out.writer_for(pid); !writer) [[unlikely]] {
      ++unwritten_;
    } else if (layouts_[class_id].pid_in_event[out.of_several()]) {
      writer->append_with_pid(time_ns, class_id, pid, fields, size);
    } else {
      writer->append(time_ns, class_id, fields, size);
    }
    ++events_;
    ++limit_.taken;
  }
  void show(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record, uint32_t size);
  void add_packer(const ctf::EventClass& event_class);
  void add_latency(uint16_t class_id, const uint8_t* ns);

  int32_t vpid_;
  std::unique_ptr<const TraceOutput> trace_;
  std::unique_ptr<LiveSource> live_;
  std::vector<ring::Histogram> latencies_;                  // by class id
  std::vector<std::unique_ptr<ctf::EventPacker>> packers_;  // by class id, of those with a hit word
  uint64_t events_ = 0;
  uint64_t unwritten_ = 0;  // there is no stream for them
  EventLimit& limit_;
  std::optional<Error> output_error_;
};

}  // namespace blip::session
