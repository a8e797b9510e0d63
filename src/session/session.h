// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctf/schema.h"
#include "session/options.h"

namespace blip::session {

// One event for the live printer; valid during the call.
struct EventView {
  const ctf::EventClass& event_class;
  uint64_t time_ns;                 // CLOCK_MONOTONIC
  std::span<const uint8_t> record;  // header and fields, at the offsets of event_class
};

struct Refusal {
  std::string probe;   // "libz.so.1:inflate"
  std::string reason;  // "a branch at inflate+0x40 leads into the bytes to be replaced"
};

struct Armed {
  uint64_t probes = 0;
  double total_ms = 0;   // from blip's start
  double paused_ms = 0;  // the longest stop of any thread
  std::vector<Refusal> refused;
  std::vector<std::string> notes;  // for -v: fall-backs taken, leftovers cleaned
};

struct ProbeCount {
  std::string name;    // event name
  std::string module;  // basename
  uint64_t hits = 0;
};

// Why tracing ended.
enum class End { kStopped, kDuration, kMaxEvents, kTargetExit, kTargetExec, kOutputFailed };

struct Summary {
  End end = End::kStopped;
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  std::string output_dir;          // kRecord
  std::vector<ProbeCount> counts;  // kCount: one per probe, in the order asked for
  double detach_ms = 0;
  double detach_paused_ms = 0;
  double consumer_cpu_s = 0;
  std::vector<std::string> warnings;  // what the user must know: memory left behind, output lost
  bool failed = false;                // exit code 1 although the target is unharmed (disk full)
};

using EventSink = std::function<void(const EventView&)>;

// One trace from attach to detach. Whatever happens after start(), the destructor leaves the target as it
// was.
class Session {
 public:
  // Plans, attaches, arms. On an error nothing is left in the target.
  static Result<std::unique_ptr<Session>> start(const Options& options);
  ~Session();

  const Armed& armed() const;

  // Drains until the target ends, a limit is reached or request_stop() was called; then disarms and finishes
  // the trace. `sink` gets every event (Mode::kTrace), `end_of_round` tells when there is nothing more for
  // now; both may be empty.
  Summary run(const EventSink& sink, const std::function<void()>& end_of_round = {});

  // From a signal handler or another thread: run() comes to a normal end.
  static void request_stop();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace blip::session
