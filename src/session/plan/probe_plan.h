// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/code/life_sites.h"
#include "probe/code/loader.h"
#include "probe/code/module.h"
#include "probe/patch/pads.h"
#include "probe/patch/plan.h"
#include "proc/files/maps.h"
#include "session/plan/classes.h"
#include "session/plan/refusal.h"
#include "session/plan/return_points.h"
#include "session/plan/shared_calls.h"
#include "session/plan/targets.h"
#include "session/symbolize/place_name.h"
#include "x86/trampoline_space.h"

namespace blip::session {

// Says what is to be probed in some modules of a process, and how. It is made once for what is there at the
// start, and for each library that comes later.
struct ProbePlan {
  struct HandedOver {
    uint32_t class_id;
    bool is_trap;  // was planned as one
    bool moves_fault;
    bool reads_far;
  };

  std::vector<probe::Module> modules;
  std::vector<Target> targets;
  std::vector<std::string> refusals;  // by target; empty: it can be armed
  std::vector<HitData> data;          // by target, what its events show; none: nobody asks for any
  std::vector<ProbePoint> points;     // what is patched for them
  std::vector<Refusal> refused;       // what is not even a target
  std::vector<std::string> remarks;   // what the user should know
  probe::ModuleSites sites;
  std::vector<probe::PlannedProbe> planned;    // one per point, until they get actions
  std::vector<probe::Probe> probes;            // then; until they are handed over
  std::vector<HandedOver> handed_over;         // what is still to be known of them then
  size_t first = 0;                            // of its probes among those of the process
  SharedCalls calls;                           // of functions whose returns are asked for more than once
  std::map<uint32_t, uint32_t> frame_classes;  // of classes whose calls count for another one
  std::optional<probe::LoaderHook> loader;     // to be probed by blip itself
  probe::Probe loader_probe;                   // for it; not among the others
  std::vector<probe::LifeSite> lives;          // the same, as many as can be probed
  std::vector<probe::Probe> life_probes;
  uint32_t life_class = 0;  // of their records, of the first kind

  // From targets to points and sites. Only files are read.
  void expand(const Options& options);
  // Finds what events show of the program's data. A target that has nothing of the kind is refused; an error
  // if all targets of a request are, unless they return nothing and others are left.
  Status find_data(const Options& options, DebugStore& store);
  // Once nothing more is refused by what it shows.
  void share_calls(const Options& options);
  void plan_pads(const Options& options, const probe::PlanOptions& how, const std::vector<proc::Map>& maps);
  void plan_uprobes();

  // For the class table: by target.
  std::vector<ProbedPlace> places(const Options& options) const;
  // Gives the probes their actions, made of those of the targets. The size of the largest record.
  uint32_t set_actions(const std::vector<jit::Action>& actions, size_t first_group = 0);
  // To who arms them: they take much memory, and nobody else needs them.
  std::vector<probe::Probe> hand_over();

  // Returns what readers need to tell apart the places whose actions are of classes with many_places.
  std::vector<PlaceName> place_names(const std::vector<ctf::EventClass>& classes) const;

  bool nothing_can_be_armed() const;
  // Why, said before the target is touched.
  Error all_refused() const;
  // Targets for which instructions were moved that may fault, in a program that handles faults.
  size_t moved_faults(const std::vector<std::string>& refusals) const;
  // By target: `refusals`, and what was refused later, by probe of the process.
  std::vector<std::string> refusals_after(
      const std::vector<std::pair<size_t, std::string>>& refused_later) const;

 private:
  void plan_module(size_t module, const probe::PlanOptions& how, x86::TrampolineSpace& space);
  bool refuse_broken_groups();
  const script::HitProgram& kept_by(size_t target) const;
};

// Says what the user has accepted.
std::string moved_faults_text(size_t probes);

}  // namespace blip::session
