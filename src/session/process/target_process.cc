// SPDX-License-Identifier: MIT
#include "session/process/target_process.h"

#include <utility>

#include "proc/files/status.h"

namespace blip::session {

Result<std::unique_ptr<TargetProcess>> TargetProcess::open(proc::Process process) {
  TRY(proc::Memory memory, proc::Memory::open(process.pid()));
  return std::unique_ptr<TargetProcess>(new TargetProcess(std::move(process), std::move(memory)));
}

TargetProcess::~TargetProcess() {
  if (!source_ || disarmed_) return;
  Summary nobody_reads_it;
  disarm(nobody_reads_it);
}

Status TargetProcess::arm_pads(Pads pads, const DrainInput& input) {
  TRY(std::unique_ptr<PadSource> source, PadSource::arm({.process = process_,
                                                         .memory = memory_,
                                                         .modules = pads.modules,
                                                         .sites = std::move(pads.sites),
                                                         .probes = std::move(pads.probes),
                                                         .options = std::move(pads.options)},
                                                        input));
  pads_ = source.get();
  source_ = std::move(source);
  return {};
}

Status TargetProcess::arm_uprobes(std::vector<UprobeSource::Probe> probes, uint64_t ring_size,
                                  const DrainInput& input) {
  TRY(source_, UprobeSource::arm(process_, memory_, std::move(probes), ring_size, input));
  return {};
}

bool TargetProcess::has_left() {
  if (left_) return true;
  if (!process_.alive()) {
    left_ = End::kTargetExit;
  } else if (memory_.mm_gone()) {
    // A process on its way out has given up its memory before it has ended.
    const auto stat = proc::read_stat(process_.pid(), process_.pid());
    const bool ends = !stat || stat->exiting() || !process_.alive();
    left_ = ends ? End::kTargetExit : End::kTargetExec;
  } else {
    return false;
  }
  source_->target_is_gone();
  return true;
}

std::optional<End> TargetProcess::gone() {
  if (!has_left()) return {};
  return source_->children_live() ? std::nullopt : left_;
}

int TargetProcess::poll_fd() const {
  if (!left_) return process_.pidfd();
  return source_->child_pidfd();
}

bool TargetProcess::disarm(Summary& summary) {
  disarmed_ = true;
  bool kept = false;
  if (!has_left()) {
    auto removed = source_->disarm();
    kept = removed && removed->kept;
    if (removed || !has_left()) tell_removal(process_.pid(), removed, summary);
  }
  source_->disarm_children(summary);
  return !kept;
}

}  // namespace blip::session
