// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/result.h"
#include "ctf/stream_writer.h"
#include "session/classes.h"
#include "session/consumer.h"
#include "session/family.h"
#include "session/live_merge.h"
#include "session/process_watch.h"

namespace blip::session {

// The events of --lifecycle: who and what came and went in the traced processes and their descendants. They
// are seen from outside, by looks at /proc. What was not there at one look and is at the next one began in
// between: its event has the time of the first of the two looks, so that it comes before everything the
// thread or process did. What has ended has the time of the second: after everything.
class Lifecycle {
 public:
  // Adds its classes to the table.
  Lifecycle(ClassTable& classes, EventLimit& limit);

  // Before the first look: also write a stream of the trace, which must declare streams of several processes.
  Status write_to(const TraceOutput& output);
  void show_to(LiveMerge* live) { live_ = live; }

  // A process that is watched from now on: it, its threads and libraries are there already.
  void begin(ProcessId process);
  // One look, now, after the family's scan. The times of events lie between the last look and this one.
  // `heard_of`: of processes whose events have come meanwhile; who is not known by now came and went unseen.
  void look(const FamilyNews& news, const std::vector<int32_t>& heard_of);
  // Events older than this are complete.
  uint64_t complete_until() const { return last_look_ns_; }
  Status flush(bool all) { return stream_ ? (all ? stream_->flush_all() : stream_->flush_full()) : Status(); }
  // Written to the stream.
  uint64_t events() const { return events_; }

 private:
  enum Kind { kProcessBegin, kFork, kExec, kProcessEnd, kThreadBegin, kThreadEnd, kLoad, kUnload, kKinds };
  struct Entry {
    ProcessId id;
    ProcessWatch watch;
  };
  struct Event {
    uint64_t time_ns;
    Kind kind;
    std::vector<uint8_t> record;  // with the header's place
  };
  struct Facts;

  void look_at(Entry& entry);
  void tell(Kind kind, ProcessId id, uint64_t time_ns, const Facts& facts);
  void put_pending();
  void put(const Event& event);

  const ClassTable& classes_;
  std::vector<uint16_t> ids_;  // of the classes, by kind
  EventLimit& limit_;
  std::unique_ptr<ctf::StreamWriter> stream_;
  LiveMerge* live_ = nullptr;
  std::map<pid_t, Entry> processes_;
  std::set<int32_t> told_;      // vpids of all processes so far
  std::vector<Event> pending_;  // of this look
  uint64_t last_look_ns_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t events_ = 0;
};

}  // namespace blip::session
