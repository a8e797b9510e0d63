// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace blip::session {

// What the pause between two rounds of a trace depends on.
struct RoundFacts {
  uint64_t bytes = 0;          // that came in the last round, of the process with the most
  uint64_t ring_size = 0;      // 0: counting
  bool follows_exec = false;   // a process that calls exec must be noticed at once
  bool program_comes = false;  // and a new program is about to be ready
  bool held_up = false;        // the reader of the events is slow: blip has waited for it already
  std::optional<std::chrono::milliseconds> left{};         // until the trace's end
  std::optional<std::chrono::milliseconds> until_timer{};  // of a script
};

// Short while much comes in, so that no ring overflows.
std::chrono::milliseconds round_pause(const RoundFacts& facts);

}  // namespace blip::session
