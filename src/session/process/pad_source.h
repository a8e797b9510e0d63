// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "session/drain/pad_drain.h"
#include "session/process/event_source.h"

namespace blip::session {

// Pads and rings in a process and the children that forks gave a copy of them.
class PadSource final : public EventSource {
 public:
  // What arms it; all but the span of modules is kept.
  struct Plan {
    const proc::Process& process;
    proc::Memory& memory;
    std::span<const probe::Module> modules;
    probe::ModuleSites sites;
    std::vector<probe::Probe> probes;
    probe::ArmOptions options;
  };

  static Result<std::unique_ptr<PadSource>> arm(Plan plan, const DrainInput& input);

  const probe::ArmReport& report() const override { return instrumentation_->report(); }
  EventDrain& events() override { return *drain_; }
  bool describe(const RegionSchema& schema) override {
    return instrumentation_->write_schema(to_text(schema));
  }
  uint64_t class_hits(uint32_t class_id) const override;
  CallTotals class_calls(uint32_t class_id, uint32_t frame_class) const override;
  uint64_t unpaired_calls(uint32_t frame_class) const override;
  probe::Instrumentation& instrumentation() { return *instrumentation_; }
  Result<probe::RemovalReport> disarm() override { return instrumentation_->disarm(); }
  void target_is_gone() override { instrumentation_->target_is_gone(); }
  void disarm_children(Summary& summary) override;
  bool children_live() override;
  int child_pidfd() const override;
  bool shares(pid_t pid) const override { return instrumentation_->sharers().shares(pid); }

 private:
  // A child of a fork that outlives the process.
  struct Child {
    proc::Process process;
    proc::Memory memory;
  };

  // One that does not let blip look at it: all that is known is that it lives.
  struct HiddenChild {
    pid_t pid;
    Fd pidfd;
  };

  PadSource(const Plan& plan) : pid_(plan.process.pid()), follow_fork_(plan.options.follow_fork) {}

  void find_children();
  Result<probe::RemovalReport> disarm_child(pid_t pid);
  void tell_unsearched(const Error& error, Summary& summary) const;
  void tell_hidden_children(Summary& summary) const;

  pid_t pid_;
  bool follow_fork_;
  std::unique_ptr<probe::Instrumentation> instrumentation_;
  std::optional<PadDrain> drain_;
  std::vector<Child> children_;  // known ones; looked for only when the process has gone
  std::vector<HiddenChild> hidden_children_;
};

}  // namespace blip::session
