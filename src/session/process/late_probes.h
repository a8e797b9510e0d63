// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/process/armed_plans.h"
#include "session/process/process_names.h"
#include "session/process/process_plan.h"
#include "session/watch/library_watch.h"

namespace blip::session {

// What looking for libraries that came or went tells.
struct LibraryHooks {
  std::function<void(const std::string&)> notice;
  std::function<Status()> before_events;  // of new classes
};

// Probes libraries that a traced process has loaded.
class LateProbes {
 public:
  // All of it outlives this, and the target is armed with pads.
  struct Trace {
    TargetProcess& target;
    TraceContext& context;
    const RequestMask& late;  // see ProcessPlan
    ArmedPlans& plans;        // what is armed is added
    ProcessNames& names;
    RegionSchema& schema;
  };

  // `modules`: that plans were made for.
  LateProbes(Trace trace, std::vector<probe::Module> modules) : trace_(trace), planned_(std::move(modules)) {}

  // False: nothing that may come is to be probed.
  bool wants_any() const { return !trace_.late.empty(); }
  // A plan was made for it before: it was there, or is there again.
  bool knows(const CodeFile& library) const;
  // Probes them: all at once, because each time is a stop; one by one where there is no room for all.
  void arm(const std::vector<CodeFile>& libraries, const LibraryHooks& hooks);
  // Probes a library again that was unloaded and loaded at the same place.
  void revive(const CodeFile& library, const LibraryHooks& hooks);

 private:
  std::vector<CodeFile> probeable(const std::vector<CodeFile>& came, const LibraryHooks& hooks);
  Status arm_some(std::span<const CodeFile> libraries, const LibraryHooks& hooks);
  Result<ProbePlan> plan(std::span<const CodeFile> libraries);
  Status arm_plan(ProbePlan& plan, std::span<const proc::Map> mapped, const LibraryHooks& hooks);
  Status tell_classes(const LibraryHooks& hooks);
  void tell_unarmed(const CodeFile& library, const Error& error, const LibraryHooks& hooks);
  void tell_armed(const ProbePlan& plan, const LibraryHooks& hooks) const;
  void tell_refused(const ProbePlan& plan, const std::vector<std::string>& refusals,
                    const LibraryHooks& hooks) const;

  Trace trace_;
  std::vector<probe::Module> planned_;  // modules that plans were made for, there or gone
};

}  // namespace blip::session
