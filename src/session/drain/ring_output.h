// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "ctf/metadata.h"
#include "ctf/stream_writer.h"
#include "ctf/trace_dir.h"

namespace blip::session {

// The place to which the events of one process and its children go. `dir` outlives those who write.
struct TraceOutput {
  const ctf::TraceDir& dir;
  ctf::Uuid uuid;
  std::string prefix;         // of file names
  uint64_t first_stream = 0;  // of kStreamsPerRing numbers for each ring
  // Called before the first event of another process than the traced one: the metadata must declare
  // streams_of_several from then on.
  std::function<Status()> before_several;
};

// The events of one ring in the trace. They are a stream of one process until a child writes into the ring:
// then that stream ends and another one goes on, in which every event has its pid. So nobody pays for pids
// who does not fork.
class RingOutput {
 public:
  static constexpr uint64_t kStreamsPerRing = 2;

  // `number` of the ring; its CPU, or ctf::kNoCpu.
  static Result<RingOutput> create(const TraceOutput& output, uint32_t number, std::string name, uint32_t cpu,
                                   int32_t vpid);

  // Returns the writer for an event of the process. Null if there is no stream for it; flush() tells why.
  [[gnu::always_inline]] ctf::StreamWriter* writer_for(int32_t pid) {
    if (pid != vpid_ && !of_several_) [[unlikely]]
      begin_several();
    return current_;
  }
  bool of_several() const { return of_several_; }

  void set_discarded(uint64_t cumulative, uint64_t now_ns);
  // The first thing that went wrong.
  Status flush(bool all);
  uint64_t lost_events() const;
  // How much is in the files.
  uint32_t own_packets() const;
  uint32_t several_packets() const;

 private:
  RingOutput(const TraceOutput& output, std::string name, ctf::StreamInfo info)
      : output_(&output), name_(std::move(name)), info_(info) {}

  void begin_several();
  Status make_several();

  const TraceOutput* output_;
  std::string name_;
  ctf::StreamInfo info_;
  int32_t vpid_ = 0;
  std::unique_ptr<ctf::StreamWriter> own_;
  std::unique_ptr<ctf::StreamWriter> several_;
  ctf::StreamWriter* current_ = nullptr;
  bool of_several_ = false;
  std::optional<Error> error_;
  uint64_t discarded_ = 0;
  uint64_t discarded_before_ = 0;  // several_
};

}  // namespace blip::session
