// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/watch/family.h"
#include "session/watch/life_record.h"
#include "session/watch/process_watch.h"

namespace blip::session {

// One thing to be told.
struct LifeEvent {
  enum Kind { kProcessBegin, kFork, kExec, kProcessEnd, kThreadBegin, kThreadEnd, kLoad, kUnload, kKinds };
  static constexpr int32_t kNotKnown = -1;

  uint64_t time_ns = 0;
  Kind kind = kProcessBegin;
  int32_t vpid = 0;
  int32_t vtid = 0;
  int32_t parent = 0;
  int32_t status = kNotKnown;
  int32_t signal = kNotKnown;
  uint64_t address = 0;
  uint64_t size = 0;
  std::string comm{};
  std::string path{};
};

// The findings of one look from outside. It took place between `begin_ns` and `time_ns`.
struct LifeLook {
  struct Changes {
    pid_t pid = 0;
    ProcessChanges what;
  };
  struct Begun {
    ProcessId process;
    bool has_pads = false;
    ProcessChanges there{};
  };
  struct Heard {
    pid_t root = 0;
    int32_t vpid = 0;
  };
  uint64_t begin_ns = 0;
  uint64_t time_ns = 0;
  FamilyNews news{};
  std::vector<Changes> changes{};
  std::vector<Begun> begun{};     // processes that are traced or watched from now on
  std::vector<Heard> heard_of{};  // processes that only their events tell of
  std::vector<pid_t> lost{};      // gone before they could be looked at
};

// How a process or a thread is called now; empty texts: it is not there any more.
struct LifeNames {
  std::function<std::string(pid_t pid, pid_t tid)> comm;
  std::function<std::string(pid_t pid)> path;
  std::function<bool(pid_t pid)> has_its_first_program;  // it was forked, and has not called exec
  std::function<pid_t(pid_t pid)> parent;
};

// Who lives, by what pads say and by what is seen from outside. What pads say is exact; what they cannot say
// (docs/design/lifecycle.md) is seen, and told only once no pad can still say it. Pure but for the names.
class Lives {
 public:
  // `follows`: whether children are told of.
  Lives(LifeNames names, bool follows, uint64_t now_ns)
      : names_(std::move(names)), follows_(follows), floor_ns_(now_ns), last_look_ns_(now_ns) {}

  // A process that is there at the begin of the trace; later ones come with looks. `has_pads`: it, its
  // threads and children tell of themselves. A process that is known already has got pads.
  void begin(const LifeLook::Begun& begun);
  void hear(const LifeRecord& record) { heard_.push_back(record); }
  void see(LifeLook look) { looks_.push_back(std::move(look)); }

  // Applies what is not younger than `until_ns`, for which all records have been heard. Returns events in the
  // order of time; the next ones are not older than complete_until().
  std::vector<LifeEvent> settle(uint64_t until_ns);
  std::vector<LifeEvent> finish();
  uint64_t complete_until() const { return floor_ns_; }

  // Processes that can be looked at.
  std::vector<ProcessId> known() const;

 private:
  // Processes of a root are known by its rings, others by their pids.
  struct Key {
    pid_t root = 0;  // 0: it has no pads
    int32_t id = 0;  // as the process sees itself; without pads, as blip sees it
    auto operator<=>(const Key&) const = default;
  };
  // Seen, but not heard of yet.
  struct Sighting {
    uint64_t before_ns = 0;  // it was not there
    uint64_t seen_ns = 0;
    std::string name{};
  };
  struct Birth {
    FamilyNews::Birth who;
    uint64_t before_ns = 0;
    uint64_t seen_ns = 0;
  };
  struct Process {
    ProcessId id;  // pid 0: blip does not know it
    uint64_t begin_ns = 0;
    bool is_silent = false;      // a child that is not followed
    bool shares_memory = false;  // its parent's, until it calls exec
    bool was_heard = false;      // its own record came
    std::string comm{}, path{};
    std::map<int32_t, std::string> threads{};  // names, by vtid
    std::map<int32_t, Sighting> sighted{};     // threads
    std::map<int32_t, uint64_t> ended{};       // threads, when: they may be listed for a while
    std::optional<uint64_t> exec_ns{};         // a thread of it is about to call exec
    int32_t exec_vtid = 0;
    std::optional<int32_t> status{}, leader_status{};
  };
  using Entry = std::map<Key, Process>::iterator;

  void hear_up_to(uint64_t time_ns);
  void apply(const LifeRecord& record);
  void apply(const LifeLook& look);
  void hear_process(const LifeRecord& record);
  void hear_exit(const LifeRecord& record);
  void see_birth(const FamilyNews::Birth& birth, uint64_t before_ns, uint64_t seen_ns);
  void see_changes(const LifeLook::Changes& changes, const LifeLook& look);
  void see_exec(const ProcessId& id, uint64_t time_ns);
  void tell_overdue(uint64_t now_ns);
  uint64_t held_since() const;

  Entry entry_of(const LifeRecord& record);
  Entry by_pid(pid_t pid);
  Entry discover(Key key, uint64_t time_ns);
  Entry add(Key key, Process process);
  Entry add_child(Key key, ProcessId id, int32_t parent, uint64_t time_ns);
  void move(Entry entry, Key key);
  ProcessId id_in(pid_t root, int32_t vpid) const;
  pid_t root_of(pid_t pid) const;
  void thread_begins(Process& p, int32_t vtid, uint64_t time_ns, std::string name);
  void thread_ends(Process& p, int32_t vtid, uint64_t time_ns);
  void exec(Entry entry, uint64_t time_ns);
  void end(Entry entry, uint64_t time_ns, std::optional<int> waited);
  void tell(const Process& p, LifeEvent event);
  std::vector<LifeEvent> take(uint64_t until_ns);

  LifeNames names_;
  bool follows_;
  std::vector<LifeRecord> heard_;
  std::vector<LifeLook> looks_;
  std::map<Key, Process> processes_;
  std::map<pid_t, Key> keys_;       // by pid
  std::map<Key, uint64_t> buried_;  // when they ended: they may be seen for a while
  std::map<Key, Birth> births_;     // seen, but not heard of yet
  std::map<pid_t, bool> roots_;     // whether their pids are those that blip sees
  std::vector<LifeEvent> pending_;
  uint64_t floor_ns_;  // all before it has been told
  uint64_t last_look_ns_;
};

}  // namespace blip::session
