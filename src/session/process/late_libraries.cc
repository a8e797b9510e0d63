// SPDX-License-Identifier: MIT
#include "session/process/late_libraries.h"

#include <fmt/core.h>

#include <utility>

#include "probe/arm/instrumentation.h"
#include "proc/files/status.h"

namespace blip::session {

namespace {

// A loader that was let go comes back soon: it tells before it maps what a library needs, and again after it.
// It must not find blip at work on the tables of a large one.
constexpr std::chrono::milliseconds kLoaderIsDone{20};

}  // namespace

LateLibraries::LateLibraries(const LateProbes::Trace& trace, const ProcessPlan& plan, UnwindTables* stacks)
    : target_(trace.target),
      names_(trace.names),
      stacks_(stacks),
      watch_(trace.target.process(), trace.target.memory(), trace.context.files, plan.probes.modules,
             plan.maps),
      probes_(trace, plan.probes.modules) {}

bool LateLibraries::hold_loader(bool has_hook) {
  if (has_hook) loader_.emplace(target_.pads()->library_word(), target_.process().ns_pid());
  return has_hook || !probes_.wants_any();
}

void LateLibraries::look(const LibraryHooks& hooks) {
  if (target_.has_left()) return;
  std::optional<uint32_t> change = loader_ ? loader_->change() : std::nullopt;
  if (loader_ && loader_->elsewhere() != std::exchange(elsewhere_, loader_->elsewhere()) && !told_elsewhere_)
    tell_elsewhere(hooks);
  if (loader_ && watch_.is_due()) {
    if (is_filtered()) loader_.reset();
    if (loader_ && loader_->holds()) watch_.put_off();
  }
  const auto now = std::chrono::steady_clock::now();
  if (change) loader_changed_ = now;
  if (change || watch_.is_due()) {
    compare(change.has_value(), hooks);
    if (change && loader_) loader_->looked(*change);
  } else if (stacks_ && stacks_->is_incomplete() && now - loader_changed_ > kLoaderIsDone) {
    update_stacks(UnwindTables::kNextFile, hooks);
  }
}

// A filter that came after blip may not like what the pad at the loader's hook does.
bool LateLibraries::is_filtered() const {
  const auto status = proc::read_status(target_.process().pid(), target_.process().pid());
  return status && status->seccomp_mode != 0;
}

void LateLibraries::tell_elsewhere(const LibraryHooks& hooks) {
  told_elsewhere_ = true;
  hooks.notice(fmt::format("a child of process {} loads libraries by itself: they are not probed there",
                           target_.process().pid()));
}

// Those that are to be probed now for the first time; the others get their probes back.
std::vector<CodeFile> LateLibraries::fresh(const std::vector<CodeFile>& came, const LibraryHooks& hooks) {
  std::vector<CodeFile> fresh;
  for (const CodeFile& library : came) {
    if (probes_.knows(library)) {
      probes_.revive(library, hooks);
    } else if (probes_.wants_any()) {
      fresh.push_back(library);
    }
  }
  return fresh;
}

void LateLibraries::compare(bool loader_waits, const LibraryHooks& hooks) {
  const uint64_t most = loader_waits ? UnwindTables::kWhileWaiting : UnwindTables::kAll;
  probe::Instrumentation& pads = *target_.pads();
  const auto news =
      watch_.look([&](const CodeFile& library) { return pads.is_patched(library.module.extent()); });
  if (!news) return;  // it ends, or calls exec
  for (const CodeFile& library : news->went) pads.forget(library.module.extent(), library.module.identity());
  const std::vector<CodeFile> unprobed = fresh(news->came, hooks);
  if (!news->went.empty() || !news->came.empty()) {
    if (stacks_) update_stacks(most, hooks);
    names_.change(*news);
  }
  if (unprobed.empty()) return;
  probes_.arm(unprobed, hooks);
  if (stacks_) update_stacks(most, hooks);  // there are more pads
}

// Threads go on with the old list until the new one is whole.
void LateLibraries::update_stacks(uint64_t most, const LibraryHooks& hooks) {
  const Status status = stacks_->update(watch_.modules(), target_.pads()->pads(), most);
  if (!status)
    hooks.notice(fmt::format("process {}: backtraces end where they get there: {}", target_.process().pid(),
                             status.error().message()));
}

}  // namespace blip::session
