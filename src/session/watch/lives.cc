// SPDX-License-Identifier: MIT
#include "session/watch/lives.h"

#include <sys/wait.h>

#include <algorithm>

#include "jit/stubs.h"

namespace blip::session {

namespace {

// How long somebody who was seen may take to say so himself: a new thread that does not get a CPU.
constexpr uint64_t kPatienceNs = 100'000'000;
// How long somebody who has said that he ends may still be seen.
constexpr uint64_t kBurialNs = 2'000'000'000;

}  // namespace

// ---- processes ----

ProcessId Lives::id_in(pid_t root, int32_t vpid) const {
  const auto known = roots_.find(root);
  return {known != roots_.end() && known->second ? vpid : 0, vpid};
}

Lives::Entry Lives::by_pid(pid_t pid) {
  const auto key = keys_.find(pid);
  return key == keys_.end() ? processes_.end() : processes_.find(key->second);
}

Lives::Entry Lives::add(Key key, Process process) {
  buried_.erase(key);
  births_.erase(key);
  if (process.id.pid != 0) keys_[process.id.pid] = key;
  return processes_.insert_or_assign(key, std::move(process)).first;
}

void Lives::move(Entry entry, Key key) {
  auto node = processes_.extract(entry);
  node.key() = key;
  if (const pid_t pid = node.mapped().id.pid; pid != 0) keys_[pid] = key;
  processes_.insert(std::move(node));
}

void Lives::begin(const LifeLook::Begun& begun) {
  const auto& [process, has_pads, there] = begun;
  const Key key{has_pads ? process.pid : 0, has_pads ? process.vpid : process.pid};
  if (has_pads) roots_[process.pid] = process.pid == process.vpid;
  if (const Entry known = by_pid(process.pid); known != processes_.end()) {
    if (has_pads && known->first != key && !processes_.contains(key)) move(known, key);
    return;
  }
  Process p{.id = process, .begin_ns = last_look_ns_, .was_heard = true};
  p.comm = names_.comm(process.pid, process.pid);
  p.path = names_.path(process.pid);
  tell(p, {.time_ns = last_look_ns_,
           .kind = LifeEvent::kProcessBegin,
           .vtid = process.vpid,
           .comm = p.comm,
           .path = p.path});
  for (const WatchedThread& t : there.begun) thread_begins(p, t.vtid, last_look_ns_, t.name);
  for (const MappedLibrary& l : there.loaded)
    tell(p, {.time_ns = last_look_ns_,
             .kind = LifeEvent::kLoad,
             .vtid = process.vpid,
             .address = l.addr.value,
             .size = l.size,
             .path = l.path});
  add(key, std::move(p));
}

std::vector<ProcessId> Lives::known() const {
  std::vector<ProcessId> all;
  for (const auto& [key, p] : processes_)
    if (p.id.pid != 0 && !p.is_silent) all.push_back(p.id);
  return all;
}

// Its main thread begins with it.
Lives::Entry Lives::add_child(Key key, ProcessId id, int32_t parent, uint64_t time_ns) {
  if (const Entry old = processes_.find(key); old != processes_.end()) end(old, time_ns, {});
  Process p{.id = id, .begin_ns = time_ns, .is_silent = !follows_};
  const Entry made_by = processes_.find({key.root, parent});
  const bool is_itself = id.pid != 0 && names_.has_its_first_program(id.pid);
  if (is_itself) p.comm = names_.comm(id.pid, id.pid), p.path = names_.path(id.pid);
  if (made_by != processes_.end() && p.comm.empty()) p.comm = made_by->second.comm;
  if (made_by != processes_.end() && p.path.empty()) p.path = made_by->second.path;
  tell(p, {.time_ns = time_ns,
           .kind = LifeEvent::kFork,
           .vtid = id.vpid,
           .parent = parent,
           .comm = p.comm,
           .path = p.path});
  thread_begins(p, id.vpid, time_ns, p.comm);
  return add(key, std::move(p));
}

// Somebody whom no pad has announced.
Lives::Entry Lives::discover(Key key, uint64_t time_ns) {
  const ProcessId id = id_in(key.root, key.id);
  int32_t parent = 0;
  if (const auto birth = births_.find(key); birth != births_.end()) {
    const FamilyNews::Birth who = birth->second.who;
    return add_child(key, who.child, who.parent.vpid, time_ns);
  }
  if (id.pid != 0) {
    const pid_t seen = names_.parent(id.pid);
    if (by_pid(seen) != processes_.end()) parent = seen;
  }
  return add_child(key, id, parent, time_ns);
}

// Whom a record is of. A child that shares its parent's memory is told by the thread. None: he has ended, or
// is not to be told of.
Lives::Entry Lives::entry_of(const LifeRecord& record) {
  const Entry child = processes_.find({record.root, record.vtid});
  if (record.vtid != record.vpid && child != processes_.end() && child->second.shares_memory) return child;
  const Key key{record.root, record.vpid};
  const Entry known = processes_.find(key);
  if (known != processes_.end() || !follows_ || buried_.contains(key)) return known;
  return discover(key, record.time_ns);
}

// ---- threads ----

void Lives::thread_begins(Process& p, int32_t vtid, uint64_t time_ns, std::string name) {
  p.sighted.erase(vtid);
  p.ended.erase(vtid);
  if (name.empty()) name = p.comm;
  if (!p.threads.emplace(vtid, name).second) return;
  tell(p, {.time_ns = time_ns, .kind = LifeEvent::kThreadBegin, .vtid = vtid, .comm = std::move(name)});
}

// One that nobody knew began before all that has not been told yet.
void Lives::thread_ends(Process& p, int32_t vtid, uint64_t time_ns) {
  if (!p.threads.contains(vtid)) {
    const auto seen = p.sighted.find(vtid);
    const bool was_seen = seen != p.sighted.end();
    thread_begins(p, vtid, was_seen ? seen->second.before_ns : floor_ns_,
                  was_seen ? seen->second.name : std::string());
  }
  tell(p, {.time_ns = time_ns, .kind = LifeEvent::kThreadEnd, .vtid = vtid, .comm = p.threads[vtid]});
  p.threads.erase(vtid);
  p.ended[vtid] = time_ns;
}

// ---- ends ----

void Lives::exec(Entry entry, uint64_t time_ns) {
  Process& p = entry->second;
  for (const auto& thread : std::map(p.threads))
    if (thread.first != p.id.vpid) thread_ends(p, thread.first, time_ns);
  p.sighted.clear();
  p.exec_ns.reset();
  p.shares_memory = false;
  p.comm = p.id.pid == 0 ? "" : names_.comm(p.id.pid, p.id.pid);
  p.path = p.id.pid == 0 ? "" : names_.path(p.id.pid);
  tell(p, {.time_ns = time_ns, .kind = LifeEvent::kExec, .vtid = p.id.vpid, .comm = p.comm, .path = p.path});
  thread_begins(p, p.id.vpid, time_ns,
                p.comm);  // it may have ended before: the thread that calls takes its id
  p.threads[p.id.vpid] = p.comm;
  if (entry->first.root != 0 && p.id.pid != 0) move(entry, {0, p.id.pid});
}

void Lives::end(Entry entry, uint64_t time_ns, std::optional<int> waited) {
  if (entry->second.exec_ns) {  // it did not come back
    const pid_t pid = entry->second.id.pid;
    exec(entry, *entry->second.exec_ns);
    if (pid != 0) entry = by_pid(pid);
  }
  Process& p = entry->second;
  for (const auto& thread : std::map(p.threads)) thread_ends(p, thread.first, time_ns);
  LifeEvent event{.time_ns = time_ns, .kind = LifeEvent::kProcessEnd, .vtid = p.id.vpid};
  if (waited) {
    event.signal = WIFSIGNALED(*waited) ? WTERMSIG(*waited) : 0;
    if (WIFEXITED(*waited)) event.status = WEXITSTATUS(*waited);
  } else if (p.status) {
    event.status = *p.status;
    event.signal = 0;
  }
  tell(p, event);
  buried_[entry->first] = time_ns;
  keys_.erase(p.id.pid);
  processes_.erase(entry);
}

// ---- what pads say ----

void Lives::hear_process(const LifeRecord& record) {
  const bool shares = record.value == jit::kSharesMemory;
  const int32_t vpid = shares ? record.vtid : record.vpid;
  if (vpid == 0) return;  // not even the kernel may be asked; it will be seen
  const int32_t parent = shares ? record.vpid : static_cast<int32_t>(record.value);
  const Key key{record.root, vpid};
  Entry entry = processes_.find(key);
  const auto birth = births_.find(key);
  if (entry == processes_.end()) {  // maybe seen as the child of one that has called exec since
    const Entry seen = by_pid(id_in(record.root, vpid).pid);
    if (seen != processes_.end() && !seen->second.was_heard) {
      move(seen, key);
      entry = processes_.find(key);
    }
  }
  if (entry == processes_.end() || entry->second.was_heard)  // the number is used again
    entry = add_child(key, birth == births_.end() ? id_in(record.root, vpid) : birth->second.who.child,
                      parent, record.time_ns);
  entry->second.was_heard = true;
  entry->second.shares_memory = shares;
}

void Lives::hear_exit(const LifeRecord& record) {
  const Entry entry = entry_of(record);
  if (entry == processes_.end()) return;
  Process& p = entry->second;
  const auto status = static_cast<int32_t>(record.value & 0xff);
  if (p.exec_vtid == record.vtid) p.exec_ns.reset();  // it failed
  if (record.kind == LifeRecord::kExec) {
    p.exec_ns = record.time_ns;
    p.exec_vtid = record.vtid;
    return;
  }
  if (record.kind == LifeRecord::kExitGroup) p.status = status;
  if (record.vtid == 0) return;
  if (record.vtid == p.id.vpid) p.leader_status = status;
  thread_ends(p, record.vtid, record.time_ns);
  if (!p.threads.empty() || !p.sighted.empty()) return;
  if (!p.status) p.status = p.leader_status;
  end(entry, record.time_ns, {});
}

void Lives::apply(const LifeRecord& record) {
  switch (record.kind) {
    case LifeRecord::kProcess:
      return hear_process(record);
    case LifeRecord::kExit:
    case LifeRecord::kExitGroup:
    case LifeRecord::kExec:
      return hear_exit(record);
    case LifeRecord::kThread:
      break;
  }
  if (record.vtid == 0) return;
  const Entry entry = entry_of(record);
  if (entry == processes_.end()) return;
  Process& p = entry->second;
  const bool same = p.id.pid == p.id.vpid;
  thread_begins(p, record.vtid, record.time_ns, same ? names_.comm(p.id.pid, record.vtid) : "");
}

// ---- what is seen ----

// By whose rings a process is known, or was; 0: by none.
pid_t Lives::root_of(pid_t pid) const {
  if (const auto known = keys_.find(pid); known != keys_.end()) return known->second.root;
  for (const auto& [key, birth] : births_)
    if (birth.who.child.pid == pid) return key.root;
  for (const auto& [key, when] : buried_)
    if (id_in(key.root, key.id).pid == pid) return key.root;
  return 0;
}

void Lives::see_birth(const FamilyNews::Birth& birth, uint64_t before_ns, uint64_t seen_ns) {
  const pid_t root = root_of(birth.parent.pid);
  const Key key{root, root == 0 ? birth.child.pid : birth.child.vpid};
  if (by_pid(birth.child.pid) != processes_.end()) return;
  if (const Entry known = processes_.find(key); known != processes_.end()) {
    known->second.id.pid = birth.child.pid;
    keys_[birth.child.pid] = key;
    return;
  }
  if (buried_.contains(key)) return;  // not waited for yet
  if (root != 0)
    births_[key] = {birth, before_ns, seen_ns};
  else
    add_child(key, birth.child, birth.parent.vpid, before_ns);
}

void Lives::see_changes(const LifeLook::Changes& changes, const LifeLook& look) {
  const Entry entry = by_pid(changes.pid);
  if (entry == processes_.end()) return;
  Process& p = entry->second;
  const uint64_t before = std::max(last_look_ns_, p.begin_ns);
  const auto library = [&](LifeEvent::Kind kind, const MappedLibrary& l, uint64_t time_ns) {
    tell(p, {.time_ns = time_ns,
             .kind = kind,
             .vtid = p.id.vpid,
             .address = l.addr.value,
             .size = l.size,
             .path = l.path});
  };
  for (const WatchedThread& t : changes.what.begun) {
    if (t.vtid == 0 || p.threads.contains(t.vtid) || p.ended.contains(t.vtid)) continue;
    if (entry->first.root == 0)
      thread_begins(p, t.vtid, before, t.name);
    else
      p.sighted[t.vtid] = {before, look.time_ns, t.name};
  }
  for (const MappedLibrary& l : changes.what.loaded) library(LifeEvent::kLoad, l, before);
  for (const MappedLibrary& l : changes.what.unloaded) library(LifeEvent::kUnload, l, look.time_ns);
  for (const WatchedThread& t : changes.what.ended)
    if (p.threads.contains(t.vtid) || p.sighted.contains(t.vtid)) thread_ends(p, t.vtid, look.time_ns);
  std::erase_if(p.ended, [&](const auto& e) { return e.second + kBurialNs < look.time_ns; });
}

void Lives::see_exec(const ProcessId& id, uint64_t time_ns) {
  for (auto b = births_.begin(); b != births_.end(); ++b)
    if (b->second.who.child.pid == id.pid) {
      discover(b->first, b->second.before_ns);
      break;
    }
  const Entry entry = by_pid(id.pid);
  if (entry != processes_.end()) exec(entry, entry->second.exec_ns.value_or(time_ns));
}

void Lives::apply(const LifeLook& look) {
  for (const FamilyNews::Birth& birth : look.news.born) see_birth(birth, last_look_ns_, look.time_ns);
  for (const ProcessId& id : look.news.executed) see_exec(id, look.time_ns);
  for (const LifeLook::Changes& changes : look.changes) see_changes(changes, look);
  for (const LifeLook::Heard& who : look.heard_of) {
    const Key key{who.root, who.vpid};
    const auto birth = births_.find(key);
    if (!follows_ || processes_.contains(key) || buried_.contains(key)) continue;
    discover(key, birth == births_.end() ? last_look_ns_ : birth->second.before_ns);
  }
  for (const FamilyNews::Death& death : look.news.died) {
    for (const auto& [key, birth] : std::map(births_))
      if (birth.who.child.pid == death.process.pid) discover(key, birth.before_ns);
    if (const Entry entry = by_pid(death.process.pid); entry != processes_.end())
      end(entry, look.time_ns, death.status);
  }
  for (pid_t pid : look.lost)
    if (const Entry entry = by_pid(pid); entry != processes_.end()) end(entry, look.time_ns, {});
  for (const LifeLook::Begun& begun : look.begun) begin(begun);
  last_look_ns_ = look.time_ns;
  tell_overdue(look.time_ns);
}

// Who was seen and does not say so himself. Also who was heard of and cannot be seen.
void Lives::tell_overdue(uint64_t now_ns) {
  for (const auto& [key, birth] : std::map(births_))
    if (birth.seen_ns + kPatienceNs <= now_ns) discover(key, birth.before_ns);
  std::vector<Key> unseen;
  for (auto& [key, p] : processes_) {
    for (const auto& [vtid, seen] : std::map(p.sighted))
      if (seen.seen_ns + kPatienceNs <= now_ns) thread_begins(p, vtid, seen.before_ns, seen.name);
    if (p.id.pid == 0 && p.begin_ns + kPatienceNs <= now_ns) unseen.push_back(key);
  }
  for (const Key& key : unseen) end(processes_.find(key), now_ns, {});
  std::erase_if(buried_, [&](const auto& b) { return b.second + kBurialNs < now_ns; });
}

// ---- telling ----

void Lives::tell(const Process& p, LifeEvent event) {
  if (p.is_silent) return;
  event.vpid = p.id.vpid;
  event.time_ns = std::max(event.time_ns, floor_ns_);
  pending_.push_back(std::move(event));
}

// The earliest time at which something that is not decided yet may be told.
uint64_t Lives::held_since() const {
  uint64_t since = last_look_ns_;
  for (const auto& [key, birth] : births_) since = std::min(since, birth.before_ns);
  for (const auto& [key, p] : processes_) {
    for (const auto& [vtid, seen] : p.sighted) since = std::min(since, seen.before_ns);
    if (p.exec_ns && *p.exec_ns + kPatienceNs > last_look_ns_) since = std::min(since, *p.exec_ns);
  }
  return since;
}

std::vector<LifeEvent> Lives::take(uint64_t until_ns) {
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const LifeEvent& a, const LifeEvent& b) { return a.time_ns < b.time_ns; });
  const auto end = std::find_if(pending_.begin(), pending_.end(),
                                [&](const LifeEvent& e) { return e.time_ns > until_ns; });
  std::vector<LifeEvent> due(std::make_move_iterator(pending_.begin()), std::make_move_iterator(end));
  pending_.erase(pending_.begin(), end);
  floor_ns_ = std::max(floor_ns_, until_ns);
  return due;
}

// Those of a process that has not begun yet wait for the look that says so.
void Lives::hear_up_to(uint64_t time_ns) {
  std::vector<LifeRecord> rest;
  for (const LifeRecord& record : heard_) {
    if (record.time_ns <= time_ns && roots_.contains(record.root))
      apply(record);
    else
      rest.push_back(record);
  }
  heard_ = std::move(rest);
}

std::vector<LifeEvent> Lives::settle(uint64_t until_ns) {
  std::stable_sort(heard_.begin(), heard_.end(),
                   [](const LifeRecord& a, const LifeRecord& b) { return a.time_ns < b.time_ns; });
  size_t looks = 0;
  for (; looks < looks_.size() && looks_[looks].time_ns <= until_ns; ++looks) {
    hear_up_to(looks_[looks].time_ns);
    apply(looks_[looks]);
  }
  hear_up_to(until_ns);
  looks_.erase(looks_.begin(), looks_.begin() + static_cast<ptrdiff_t>(looks));
  return take(std::max(held_since(), floor_ns_));
}

std::vector<LifeEvent> Lives::finish() {
  std::vector<LifeEvent> all = settle(UINT64_MAX);
  last_look_ns_ += kPatienceNs;
  tell_overdue(last_look_ns_);
  std::vector<LifeEvent> rest = take(UINT64_MAX);
  all.insert(all.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return all;
}

}  // namespace blip::session
