// SPDX-License-Identifier: MIT
#include "session/run/run_alone.h"

#include <algorithm>
#include <thread>

#include "ctf/clock.h"

namespace blip::session {

namespace {

constexpr uint64_t kLongestPauseNs = 100'000'000;
constexpr uint64_t kPauseOfReaderNs = 1'000'000;

uint64_t pause_ns(const Engine& engine, uint64_t now_ns) {
  if (engine.is_held_up()) return kPauseOfReaderNs;
  const auto due = engine.next_due();
  if (!due) return kLongestPauseNs;
  return *due > now_ns ? std::min(*due - now_ns, kLongestPauseNs) : 0;
}

}  // namespace

void run_alone(Engine& engine, std::optional<std::chrono::nanoseconds> duration, const StopRequest& stop,
               const std::function<void()>& end_of_round) {
  const uint64_t begin = ctf::HostClocks::monotonic_ns();
  const uint64_t end = duration ? begin + static_cast<uint64_t>(duration->count()) : UINT64_MAX;
  engine.begin(begin);
  for (;;) {
    const uint64_t now = ctf::HostClocks::monotonic_ns();
    engine.run_until(std::min(now, end));
    end_of_round();
    if (engine.is_over() || stop.requested() || now >= end) break;
    const uint64_t pause = std::min(pause_ns(engine, ctf::HostClocks::monotonic_ns()), end - now);
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
  }
  engine.end(std::min(ctf::HostClocks::monotonic_ns(), end));
}

}  // namespace blip::session
