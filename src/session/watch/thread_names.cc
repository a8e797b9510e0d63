// SPDX-License-Identifier: MIT
#include "session/watch/thread_names.h"

#include <algorithm>
#include <string>

#include "proc/files/status.h"
#include "proc/files/thread_names.h"

namespace blip::session {

ThreadNames::ThreadNames(pid_t pid) : pid_(pid) {
  process_name_ = read(pid);
  refresh();
}

void ThreadNames::refresh() {
  ++generation_;
  auto threads = proc::list_threads(pid_);
  if (!threads) return;
  for (pid_t tid : *threads)
    if (Entry& entry = entries_[tid]; entry.generation == 0) look(tid, entry);
}

void ThreadNames::look(int32_t tid, Entry& entry) {
  const bool first = entry.generation == 0;
  entry.generation = generation_;
  const Name now = read(tid);
  if (now[0] != '\0') {
    entry.name = now;
  } else if (first) {
    entry.name = process_name_;
  }
}

const ThreadNames::Name& ThreadNames::of(int32_t tid) {
  Entry& entry = entries_[tid];
  if (entry.generation != generation_) look(tid, entry);
  return entry.name;
}

ThreadNames::Name ThreadNames::read(int32_t tid) const {
  Name name{};
  std::string comm = proc::read_comm(pid_, tid);
  if (comm.empty()) comm = proc::read_comm(tid, tid);  // the first thread of a child
  std::copy_n(comm.begin(), std::min(comm.size(), name.size() - 1), name.begin());
  return name;
}

}  // namespace blip::session
