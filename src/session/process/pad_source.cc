// SPDX-License-Identifier: MIT
#include "session/process/pad_source.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "ring/counters.h"
#include "ring/latency_reader.h"

namespace blip::session {

namespace {

constexpr int kChildRounds = 16;  // children may fork while they are being restored

}  // namespace

Result<std::unique_ptr<PadSource>> PadSource::arm(Plan plan, const DrainInput& input) {
  std::unique_ptr<PadSource> self(new PadSource(plan));
  const uint64_t start_tsc = ring::RecordClock{plan.options.monotonic_clock}();
  TRY(self->instrumentation_,
      probe::Instrumentation::arm(plan.process, plan.memory, plan.modules, std::move(plan.sites),
                                  std::move(plan.probes), plan.options));
  const probe::RingFiller* filler = self->instrumentation_->filler();
  self->drain_.emplace(input,
                       RingInput{.geometry = self->instrumentation_->geometry(),
                                 .region = self->instrumentation_->region(),
                                 .vpid = plan.process.ns_pid(),
                                 .start_tsc = start_tsc,
                                 .complete = filler ? &filler->complete() : nullptr},
                       filler);
  return self;
}

uint64_t PadSource::class_hits(uint32_t class_id) const {
  const ring::CounterReader counters(instrumentation_->geometry(), instrumentation_->region());
  return counters.class_totals(class_id).hits;
}

uint64_t PadSource::unpaired_calls(uint32_t frame_class) const {
  const ring::CounterReader counters(instrumentation_->geometry(), instrumentation_->region());
  return counters.class_totals(frame_class).unpaired;
}

CallTotals PadSource::class_calls(uint32_t class_id, uint32_t frame_class) const {
  constexpr uint32_t kBetweenReleases = 512;
  const abi::Geometry& geometry = instrumentation_->geometry();
  const uint8_t* region = instrumentation_->region();
  if (geometry.latencies && class_id % kBetweenReleases == 0) instrumentation_->release_region();
  return {.latencies = geometry.latencies ? ring::LatencyReader(geometry, region).class_latencies(class_id)
                                          : drain_->latencies(class_id),
          .abandoned = ring::CounterReader(geometry, region).class_totals(frame_class).abandoned,
          .open = instrumentation_->open_calls().of(frame_class)};
}

bool PadSource::children_live() {
  std::erase_if(children_, [](const Child& c) { return !c.process.alive() || c.memory.mm_gone(); });
  std::erase_if(hidden_children_,
                [&](const HiddenChild& c) { return !instrumentation_->sharers().hides(c.pid); });
  if (children_.empty() && hidden_children_.empty() && follow_fork_) find_children();
  return !children_.empty() || !hidden_children_.empty();
}

void PadSource::find_children() {
  const auto sharers = instrumentation_->sharers().find();
  const auto hidden = instrumentation_->sharers().find_hidden();
  if (!sharers || !hidden) return;  // looked for again when probes are taken out, and told
  for (pid_t pid : *sharers) {
    auto process = proc::Process::open(pid);
    auto memory = proc::Memory::open(pid);
    if (process && memory) children_.push_back({*std::move(process), *std::move(memory)});
  }
  for (pid_t pid : *hidden) {
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd) hidden_children_.push_back({pid, std::move(pidfd)});
  }
}

int PadSource::child_pidfd() const {
  if (!children_.empty()) return children_.front().process.pidfd();
  return hidden_children_.empty() ? -1 : hidden_children_.front().pidfd.get();
}

Result<probe::RemovalReport> PadSource::disarm_child(pid_t pid) {
  TRY(const proc::Process process, proc::Process::open(pid));
  TRY(proc::Memory memory, proc::Memory::open(pid));
  return instrumentation_->disarm_child(process, memory);
}

// Until no process is found that shares the memory and has not been dealt with: they may fork meanwhile.
void PadSource::disarm_children(Summary& summary) {
  std::set<pid_t> done{pid_};
  for (int round = 0; round < kChildRounds; ++round) {
    bool any = false;
    const auto sharers = instrumentation_->sharers().find();
    if (!sharers) return tell_unsearched(sharers.error(), summary);
    for (pid_t pid : *sharers) {
      if (!done.insert(pid).second) continue;
      any = true;
      const auto removed = disarm_child(pid);
      if (removed || instrumentation_->sharers().shares(pid)) tell_removal(pid, removed, summary);
    }
    if (!any) break;
  }
  tell_hidden_children(summary);
}

void PadSource::tell_unsearched(const Error& error, Summary& summary) const {
  summary.warnings.push_back(
      fmt::format("processes that {} may have forked could not be looked for ({}): their probes stay, "
                  "harmless, until they end or you say `blip clean --all`",
                  pid_, error.message()));
  summary.failed = true;
}

void PadSource::tell_hidden_children(Summary& summary) const {
  const auto hidden = instrumentation_->sharers().find_hidden();
  if (!hidden) return tell_unsearched(hidden.error(), summary);
  for (pid_t pid : *hidden) {
    summary.warnings.push_back(
        fmt::format("process {}, forked by {}, could not be restored: it does not let you look at it "
                    "(PR_SET_DUMPABLE 0, or another user's). Its probes stay, harmless, until it ends "
                    "or root says `blip clean -p {}`",
                    pid, pid_, pid));
    summary.failed = true;
  }
}

}  // namespace blip::session
