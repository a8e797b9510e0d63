// SPDX-License-Identifier: MIT
#include "session/round_pause.h"

#include <algorithm>

namespace blip::session {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kIdlePause{20};
constexpr milliseconds kUsualPause{5};
constexpr milliseconds kBusyPause{1};
constexpr milliseconds kExecPause{2};   // --follow-exec: how late an exec is noticed
constexpr milliseconds kReadyPause{1};  // until the new program can be traced

milliseconds pause_after(uint64_t bytes, uint64_t ring_size) {
  if (bytes == 0) return kIdlePause;
  return bytes > ring_size / 4 ? kBusyPause : kUsualPause;
}

}  // namespace

milliseconds round_pause(const RoundFacts& facts) {
  if (facts.held_up) return milliseconds(0);
  milliseconds pause = pause_after(facts.bytes, facts.ring_size);
  if (facts.follows_exec) pause = std::min(pause, facts.program_comes ? kReadyPause : kExecPause);
  if (facts.left) pause = std::min(pause, *facts.left);
  if (facts.until_timer) pause = std::min(pause, *facts.until_timer);
  return std::max(pause, milliseconds(0));
}

}  // namespace blip::session
