// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctf/stream_writer.h"
#include "session/drain/live_merge.h"
#include "session/drain/ring_output.h"
#include "session/plan/classes.h"
#include "session/watch/family.h"
#include "session/watch/lives.h"
#include "session/watch/process_watch.h"

namespace blip::session {

// The events of --lifecycle: who and what came and went in the traced processes and their descendants. Pads
// tell of threads and processes, with the time; what they cannot tell is seen by looks at /proc. What was not
// there at one look and is at the next one began in between: its event has the time of the first of the two
// looks, so that it comes before everything the thread or process did. What has ended has the time of the
// second: after everything.
class Lifecycle {
 public:
  // Adds its classes to the table, and those of the records that pads write. `follows`: see Lives.
  Lifecycle(ClassTable& classes, bool follows);

  // Where records of pads are to be put.
  LifeRecords& records() { return records_; }

  // From now on, also tell events as they are. Those that are told once have the order of time.
  void tell(std::function<void(const LifeEvent&)> told) { told_ = std::move(told); }
  // No event that is still to be told is older.
  uint64_t complete_until() const { return lives_.complete_until(); }

  // Before the first look: also write a stream of the trace, which must declare streams of several processes.
  Status write_to(const TraceOutput& output);
  // From now on, hand events to `live`, until finish().
  void show_to(LiveMerge& live) { live_ = std::make_unique<LiveSource>(live); }

  // A process that is watched from now on: it, its threads and libraries are there already.
  void begin(ProcessId process, bool has_pads);
  // Takes the records that have come. Returns processes that have just been born, as far as their pids are
  // known: to be looked at while they are there.
  std::vector<pid_t> take_records();
  // One look, now, after the family's scan. Which events are told by it is decided by settle().
  void look(const FamilyNews& news, std::vector<LifeLook::Heard> heard_of, std::vector<pid_t> lost);
  // All records up to this time have come.
  void settle(uint64_t until_ns);
  void finish();
  Status flush(bool all) { return stream_ ? (all ? stream_->flush_all() : stream_->flush_full()) : Status(); }
  // Told.
  uint64_t events() const { return events_; }

 private:
  void put(const std::vector<LifeEvent>& events);

  const ClassTable& classes_;
  std::vector<uint16_t> ids_;  // of the classes, by kind
  LifeRecords records_;
  Lives lives_;
  std::map<pid_t, ProcessWatch> watches_;
  std::vector<LifeLook::Begun> begun_;  // since the last look
  bool has_looked_ = false;
  std::map<pid_t, int32_t> roots_;  // traced processes, as they see themselves
  std::unique_ptr<ctf::StreamWriter> stream_;
  std::unique_ptr<LiveSource> live_;
  std::function<void(const LifeEvent&)> told_;
  uint64_t events_ = 0;
};

}  // namespace blip::session
