// SPDX-License-Identifier: MIT
// The results of a trace, for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blip::session {

struct ProbeCount {
  std::string name;    // event name
  std::string module;  // basename
  uint64_t hits = 0;
  bool in_sequence = false;           // one of every instruction: belongs beside its neighbours
  std::string filter{};               // of the probe, as it was given; empty: none
  std::optional<uint64_t> address{};  // in the module's file; none: it has several
};

// How the calls of a function went.
struct CallSummary {
  std::string name;                   // of the function
  std::string module;                 // basename
  std::string filter{};               // of the probe, as it was given; empty: none
  std::optional<uint64_t> address{};  // in the module's file
  uint64_t calls = 0;                 // that returned
  uint64_t total_ns = 0;
  uint64_t mean_ns = 0;
  uint64_t p50_ns = 0;  // half of them took no longer; at most 1/8 too much
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
  uint64_t abandoned = 0;        // left by longjmp, an exception, the end of their thread
  std::optional<uint64_t> open;  // at the end, neither returned nor known to be abandoned; none: not known
};

// Why tracing ended.
enum class End { kStopped, kDuration, kMaxEvents, kTargetExit, kTargetExec, kOutputFailed, kScript };

struct Summary {
  End end = End::kStopped;
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  std::string buffer_advice;       // where events were discarded: what would have helped
  std::string output_dir;          // kRecord
  std::vector<ProbeCount> counts;  // kCount: one per probe, in the order asked for
  std::vector<CallSummary> calls;  // kRecord, and with latencies: one per function whose returns are probed
  double detach_ms = 0;
  double detach_paused_ms = 0;
  double consumer_cpu_s = 0;
  std::vector<std::string> warnings;  // what the user must know: memory left behind, output lost
  bool failed = false;                // exit code 1 although the target is unharmed (disk full)
};

}  // namespace blip::session
