// SPDX-License-Identifier: MIT
#include "session/watch/process_watch.h"

#include <set>

#include "proc/files/maps.h"
#include "proc/files/status.h"
#include "proc/files/thread_names.h"

namespace blip::session {

namespace {

using Key = std::tuple<uint64_t, uint64_t, uint64_t>;

// Neighbouring mappings of one file are one library, if there is code among them.
std::map<Key, MappedLibrary> libraries_of(const std::vector<proc::Map>& maps) {
  std::map<Key, MappedLibrary> found;
  for (size_t i = 0; i < maps.size();) {
    const proc::Map& first = maps[i];
    bool code = false;
    TargetAddr end = first.range.end;
    size_t next = i;
    for (; next < maps.size(); ++next) {
      const proc::Map& map = maps[next];
      const bool same = map.inode == first.inode && map.dev == first.dev;
      if (!same || (next != i && map.offset == 0 && first.offset == 0 && map.exec)) break;
      code = code || map.exec;
      end = map.range.end;
    }
    if (first.file_backed() && !first.shared && code)
      found[{first.dev, first.inode, first.range.begin.value}] = {first.path, first.range.begin,
                                                                  end.value - first.range.begin.value};
    i = next;
  }
  return found;
}

}  // namespace

int32_t ProcessWatch::vtid_of(pid_t tid) const {
  if (id_.pid == id_.vpid) return tid;
  const auto status = proc::read_status(id_.pid, tid);
  return status && !status->ns_pids.empty() ? status->ns_pids.back() : 0;
}

void ProcessWatch::look_at_threads(ProcessChanges& changes) {
  const auto listed = proc::list_threads(id_.pid);
  if (!listed) return;
  const std::set<pid_t> now(listed->begin(), listed->end());
  for (auto known = threads_.begin(); known != threads_.end();) {
    // A list of threads that come and go may lack some that are there.
    if (now.contains(known->first) || proc::read_stat(id_.pid, known->first)) {
      ++known;
      continue;
    }
    changes.ended.push_back(known->second);
    known = threads_.erase(known);
  }
  for (pid_t tid : now) {
    if (threads_.contains(tid)) continue;
    const WatchedThread thread{vtid_of(tid), proc::read_comm(id_.pid, tid)};
    threads_.emplace(tid, thread);
    changes.begun.push_back(thread);
  }
}

void ProcessWatch::look_at_libraries(ProcessChanges& changes) {
  const auto maps = proc::read_maps(id_.pid);
  if (!maps || maps->empty()) return;
  std::map<LibraryKey, MappedLibrary> now = libraries_of(*maps);
  for (const auto& [key, library] : libraries_)
    if (!now.contains(key)) changes.unloaded.push_back(library);
  for (const auto& [key, library] : now)
    if (!libraries_.contains(key)) changes.loaded.push_back(library);
  libraries_ = std::move(now);
}

ProcessChanges ProcessWatch::look() {
  ProcessChanges changes;
  look_at_threads(changes);
  look_at_libraries(changes);
  return changes;
}

}  // namespace blip::session
