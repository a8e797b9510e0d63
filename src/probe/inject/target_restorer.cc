// SPDX-License-Identifier: MIT
#include "probe/inject/target_restorer.h"

#include <vector>

#include "probe/inject/leftovers.h"
#include "proc/files/memory.h"

namespace blip::probe {

namespace {

Status restore_process(const proc::Process& process) {
  TRY(proc::Memory memory, proc::Memory::open(process.pid()));
  TRY_OK(clean_leftovers(process, memory, {}, Owner::kMayBeThisBlip));
  return {};
}

Status success_if_gone(Status status) {
  return !status && status.error().kind() == ErrorKind::kGone ? Status() : status;
}

}  // namespace

TargetRestorer::TargetRestorer(const proc::Process& process)
    : pid_(process.pid()), start_time_(process.start_time()), on_failure_([this] { return restore(); }) {}

void TargetRestorer::include(const MemorySharers& sharers) {
  const std::lock_guard lock(mutex_);
  sharers_ = sharers;
}

// All are tried; the error is that of the last one that failed.
Status TargetRestorer::restore() {
  std::vector<pid_t> pids;
  {
    const std::lock_guard lock(mutex_);
    if (sharers_) pids = sharers_->find().value_or(pids);
  }
  Status all;
  for (const pid_t pid : pids) {
    if (pid == pid_) continue;
    const auto child = proc::Process::open(pid, proc::Init::kAllow);
    const Status done = success_if_gone(child ? restore_process(*child) : Status(child.error()));
    if (!done) all = done;
  }
  const auto process = proc::Process::open(pid_, proc::Init::kAllow);
  if (process && process->start_time() != start_time_) return all;
  const Status done = success_if_gone(process ? restore_process(*process) : Status(process.error()));
  return done ? all : done;
}

}  // namespace blip::probe
