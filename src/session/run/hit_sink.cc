// SPDX-License-Identifier: MIT
#include "session/run/hit_sink.h"

namespace blip::session {

HitSink::~HitSink() {
  for (const HitQueue::Ring ring : rings_) engine_.close_ring(ring);
}

void HitSink::put(const Event& event) {
  while (rings_.size() <= event.row) rings_.push_back(engine_.open_ring());
  const int32_t pid = pid_of(event.pid);
  const uint64_t stack = event.frames.empty() ? 0 : engine_.number_of_stack(pid, event.frames);
  engine_.add(
      rings_[event.row],
      {.time_ns = event.time_ns, .stack = stack, .size = event.size, .pid = pid, .class_id = event.class_id},
      event.fields);
}

}  // namespace blip::session
