// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "session/drain/live_merge.h"
#include "session/roster.h"

namespace blip::session {

// Shows the events of all processes of a trace while they come, in the order of time, up to the trace's limit. The
// processes name what lies at the addresses in them.
class LiveShow {
 public:
  // All of it outlives this. `is_full` may be empty: true says that `sink` can take no more for now.
  LiveShow(ShowEvent sink, std::function<bool()> is_full, TraceContext& context,
           const Roster::Processes& live);
  // The functions that name addresses know where it is.
  LiveShow(const LiveShow&) = delete;
  LiveShow& operator=(const LiveShow&) = delete;

  // From now on, its events are shown.
  void add(TracedProcess& process);
  LiveMerge& merge() { return merge_; }

  // Everything that is complete, as far as the sink takes it.
  void show();
  // Everything: no process brings more. Returns how many events were shown from the beginning on, blip's own
  // too.
  uint64_t show_rest();
  // The last show() ended because the sink was full.
  bool is_held_up() const { return merge_.is_held_up(); }
  // Events that only wait for the sink.
  uint64_t held_up() const { return is_held_up() ? merge_.pending() : 0; }
  // Events that came after a younger one had been shown.
  uint64_t late() const { return merge_.late(); }

 private:
  std::string place_of(uint64_t ip) const;
  std::string event_name(const ctf::EventClass& event_class, uint64_t ip) const;
  const std::vector<NamedFrame>& frames_of(int32_t vpid, uint64_t address, bool is_return) const;

  EventLimit& limit_;
  const Roster::Processes& live_;
  LiveMerge merge_;
};

}  // namespace blip::session
