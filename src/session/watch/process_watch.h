// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/addr.h"

namespace blip::session {

// A file with code that a process has mapped.
struct MappedLibrary {
  std::string path;
  TargetAddr addr;  // where it begins
  uint64_t size = 0;

  bool operator==(const MappedLibrary&) const = default;
};

// A process and the pid it has in its own namespace.
struct ProcessId {
  pid_t pid = 0;
  int32_t vpid = 0;
};

struct WatchedThread {
  int32_t vtid = 0;  // as its process sees it
  std::string name{};
};

// All that came and went since the last look.
struct ProcessChanges {
  std::vector<WatchedThread> begun, ended;
  std::vector<MappedLibrary> loaded, unloaded;

  bool empty() const { return begun.empty() && ended.empty() && loaded.empty() && unloaded.empty(); }
};

// The threads and libraries of a process, seen from outside: two looks at /proc compared. What lived only in
// between is not seen.
class ProcessWatch {
 public:
  explicit ProcessWatch(ProcessId id) : id_(id) {}

  // The first time: everything there is. Nothing if the process cannot be looked at.
  ProcessChanges look();

 private:
  using LibraryKey = std::tuple<uint64_t, uint64_t, uint64_t>;  // device, inode, address

  void look_at_threads(ProcessChanges& changes);
  void look_at_libraries(ProcessChanges& changes);

  int32_t vtid_of(pid_t tid) const;

  ProcessId id_;
  std::map<pid_t, WatchedThread> threads_;
  std::map<LibraryKey, MappedLibrary> libraries_;
};

}  // namespace blip::session
