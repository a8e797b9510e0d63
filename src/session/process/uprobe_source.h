// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "jit/program/action.h"
#include "probe/uprobe/uprobes.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "session/drain/uprobe_drain.h"
#include "session/process/event_source.h"

namespace blip::session {

// Kernel uprobes on a process: nothing of blip's is in it.
class UprobeSource final : public EventSource {
 public:
  struct Probe {
    TargetAddr addr;
    jit::Action action;
    bool refused = false;  // left out
  };

  // `ring_size`: bytes per CPU; 0 while counting.
  static Result<std::unique_ptr<UprobeSource>> arm(const proc::Process& process, const proc::Memory& memory,
                                                   std::vector<Probe> probes, uint64_t ring_size,
                                                   const DrainInput& input);

  const probe::ArmReport& report() const override { return report_; }
  EventDrain& events() override { return *drain_; }
  uint64_t class_hits(uint32_t class_id) const override;
  Result<probe::RemovalReport> disarm() override;
  void target_is_gone() override { uprobes_->disarm(); }

 private:
  explicit UprobeSource(std::vector<Probe> probes) : probes_(std::move(probes)) {}

  std::vector<Probe> probes_;
  UprobePoints points_;
  std::unordered_multimap<uint32_t, size_t> points_of_class_;
  std::unique_ptr<probe::Uprobes> uprobes_;
  probe::ArmReport report_;
  std::optional<UprobeDrain> drain_;
};

}  // namespace blip::session
