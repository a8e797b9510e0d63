// SPDX-License-Identifier: MIT
#include "session/pad_source.h"

#include <algorithm>
#include <set>

#include "ring/counters.h"

namespace blip::session {

namespace {

constexpr int kChildRounds = 16;  // children may fork while they are being restored

}  // namespace

Result<std::unique_ptr<PadSource>> PadSource::arm(Plan plan, const ConsumerInput& input) {
  std::unique_ptr<PadSource> self(new PadSource(plan));
  const uint64_t start_tsc = ring::RecordClock{plan.options.monotonic_clock}();
  TRY(self->instrumentation_, probe::Instrumentation::arm(plan.process, plan.memory, plan.modules,
                                                          std::move(plan.sites), plan.probes, plan.options));
  self->consumer_.emplace(input, RingInput{.geometry = self->instrumentation_->geometry(),
                                           .region = self->instrumentation_->region(),
                                           .vpid = plan.process.ns_pid(),
                                           .start_tsc = start_tsc});
  return self;
}

uint64_t PadSource::class_hits(uint16_t class_id) const {
  const ring::CounterReader counters(instrumentation_->geometry(), instrumentation_->region());
  return counters.class_totals(class_id).hits;
}

bool PadSource::children_live() {
  std::erase_if(children_, [](const Child& c) { return !c.process.alive() || c.memory.mm_gone(); });
  if (!children_.empty()) return true;
  if (!follow_fork_) return false;
  for (pid_t pid : instrumentation_->sharers().find()) {
    auto process = proc::Process::open(pid);
    auto memory = proc::Memory::open(pid);
    if (process && memory) children_.push_back({*std::move(process), *std::move(memory)});
  }
  return !children_.empty();
}

int PadSource::child_pidfd() const { return children_.empty() ? -1 : children_.front().process.pidfd(); }

Result<probe::RemovalReport> PadSource::disarm_child(pid_t pid) const {
  TRY(const proc::Process process, proc::Process::open(pid));
  TRY(proc::Memory memory, proc::Memory::open(pid));
  return instrumentation_->disarm_child(process, memory);
}

// Until no process is found that shares the memory and has not been dealt with: they may fork meanwhile.
void PadSource::disarm_children(Summary& summary) {
  std::set<pid_t> done{pid_};
  for (int round = 0; round < kChildRounds; ++round) {
    bool any = false;
    for (pid_t pid : instrumentation_->sharers().find()) {
      if (!done.insert(pid).second) continue;
      any = true;
      const auto removed = disarm_child(pid);
      if (removed || instrumentation_->sharers().shares(pid)) tell_removal(pid, removed, summary);
    }
    if (!any) return;
  }
}

}  // namespace blip::session
