// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/drain/event_sink.h"
#include "session/drain/ring_output.h"

namespace blip::session {

// The stream files of one process and its children.
class StreamSink final : public EventSink {
 public:
  // A row's streams are named after it.
  struct Row {
    std::string name;
    uint32_t cpu;  // or ctf::kNoCpu
  };

  // With numbers from output.first_stream on, RingOutput::kStreamsPerRing for each row.
  static Result<StreamSink> create(TraceOutput output, std::span<const Row> rows, int32_t vpid);

  void add_classes(const std::vector<ctf::EventClass>& all) override;
  [[gnu::always_inline]] void put(const Event& event) override {
    RingOutput& row = rows_[event.row];
    ++events_;
    if (ctf::StreamWriter* writer = row.writer_for(event.pid); !writer) [[unlikely]] {
      ++unwritten_;
    } else if (pid_in_event_[event.class_id][row.of_several()]) {
      writer->append_with_pid(event.time_ns, event.class_id, event.pid, event.fields, event.size);
    } else {
      writer->append(event.time_ns, event.class_id, event.fields, event.size);
    }
  }
  void set_discarded(uint32_t row, uint64_t cumulative, uint64_t time_ns) override {
    rows_[row].set_discarded(cumulative, time_ns);
  }
  bool stores() const override { return true; }
  StoredPackets store(uint32_t row) override;
  // Hands complete packets on.
  void end_round(uint64_t complete_until_ns) override;
  void finish() override;

  // The first write that failed; the trace on disk is whole up to there.
  const std::optional<Error>& error() const { return error_; }
  // Events that reached the files, and those that got lost on the way there.
  uint64_t events() const { return events_ - lost(); }
  uint64_t lost() const;

 private:
  explicit StreamSink(TraceOutput output) : trace_(std::make_unique<const TraceOutput>(std::move(output))) {}

  void flush(RingOutput& row, bool all);

  std::unique_ptr<const TraceOutput> trace_;
  std::vector<RingOutput> rows_;
  // By class id: whether an event in the trace has the pid in front, in a stream of one process, of several.
  std::vector<std::array<bool, 2>> pid_in_event_;
  uint64_t events_ = 0;
  uint64_t unwritten_ = 0;  // there is no stream for them
  std::optional<Error> error_;
};

}  // namespace blip::session
