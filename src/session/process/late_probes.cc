// SPDX-License-Identifier: MIT
#include "session/process/late_probes.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/milliseconds.h"
#include "ctf/clock.h"
#include "elf/dynamic.h"
#include "probe/arm/instrumentation.h"
#include "probe/code/resolve.h"
#include "session/plan/plan_options.h"
#include "session/plan/probe_room.h"
#include "session/plan/purpose.h"

namespace blip::session {

namespace {

// The loader will write into its code when it relocates it.
bool has_text_relocations(const probe::Module& module) {
  const auto flags = elf::dynamic_value(module.file(), DT_FLAGS);
  return elf::dynamic_value(module.file(), DT_TEXTREL) || (flags && (*flags & DF_TEXTREL) != 0);
}

}  // namespace

bool LateProbes::knows(const CodeFile& library) const {
  return std::any_of(planned_.begin(), planned_.end(),
                     [&](const probe::Module& module) { return module.is_same(library.module); });
}

void LateProbes::revive(const CodeFile& library, const LibraryHooks& hooks) {
  const Status status =
      trace_.target.pads()->revive(library.module.extent(), library.module.identity(), library.text);
  if (!status && status.error().kind() != ErrorKind::kGone &&
      (trace_.context.options.verbose || status.error().kind() != ErrorKind::kNotFound))
    hooks.notice(
        fmt::format("{}: is not probed again: {}", library.module.basename(), status.error().message()));
}

std::vector<CodeFile> LateProbes::probeable(const std::vector<CodeFile>& came, const LibraryHooks& hooks) {
  std::vector<CodeFile> libraries;
  for (const CodeFile& library : came) {
    planned_.push_back(library.module);
    if (!has_text_relocations(library.module)) {
      libraries.push_back(library);
    } else if (trace_.context.options.verbose) {
      hooks.notice(
          fmt::format("{}: not probed: its code is relocated (DT_TEXTREL)", library.module.basename()));
    }
  }
  return libraries;
}

void LateProbes::arm(const std::vector<CodeFile>& came, const LibraryHooks& hooks) {
  const std::vector<CodeFile> libraries = probeable(came, hooks);
  if (libraries.empty()) return;
  const Status all = arm_some(libraries, hooks);
  if (all) return;
  for (const CodeFile& library : libraries) {
    const bool is_other_error =
        all.error().kind() == ErrorKind::kGone || all.error().kind() == ErrorKind::kNotFound;
    const Status alone =
        is_other_error || libraries.size() == 1 ? all : arm_some(std::span(&library, 1), hooks);
    if (!alone) tell_unarmed(library, alone.error(), hooks);
  }
}

void LateProbes::tell_unarmed(const CodeFile& library, const Error& error, const LibraryHooks& hooks) {
  if (error.kind() == ErrorKind::kGone) return;
  const bool was_unloaded = error.kind() == ErrorKind::kNotFound;
  if (was_unloaded)  // it may come again
    std::erase_if(planned_, [&](const probe::Module& m) { return m.is_same(library.module); });
  if (!was_unloaded || trace_.context.options.verbose)
    hooks.notice(fmt::format("{}: not probed: {}", library.module.basename(), error.message()));
}

// Without targets there is nothing to do.
Result<ProbePlan> LateProbes::plan(std::span<const CodeFile> libraries) {
  const Options& options = trace_.context.options;
  DebugStore& debug = trace_.context.debug;
  const pid_t pid = trace_.target.process().pid();
  ProbePlan plan;
  for (const CodeFile& library : libraries) plan.modules.push_back(library.module);
  const auto maps = proc::read_maps(pid);
  if (!maps) return plan;  // it ends
  const probe::ResolveContext where{.memory = &trace_.target.memory(), .maps = *maps, .hints = false};
  auto found = find_targets(options, plan.modules, {where, debug}, true, trace_.late);
  if (!found || found->targets.empty()) return plan;
  const auto how = plan_options_of(pid, plan.modules, options.moved_faults);
  if (!how) return plan;
  plan.targets = std::move(found->targets);
  plan.refused = std::move(found->refused);
  plan.expand(options);
  if (const Status status = plan.find_data(options, debug); !status)
    return Error(ErrorKind::kUnsupported, status.error().message());
  plan.share_calls(options);
  plan.plan_pads(options, *how, *maps);
  return plan;
}

Status LateProbes::arm_some(std::span<const CodeFile> libraries, const LibraryHooks& hooks) {
  TRY(ProbePlan planned, plan(libraries));
  if (planned.targets.empty()) return {};
  std::vector<proc::Map> mapped;
  for (const CodeFile& library : libraries)
    mapped.insert(mapped.end(), library.text.begin(), library.text.end());
  ProbePlan& plan = trace_.plans.add(std::move(planned));
  const Status status = arm_plan(plan, mapped, hooks);
  if (status) {
    tell_armed(plan, hooks);
  } else if (trace_.target.pads()->probe_count() == plan.first) {
    trace_.plans.drop_last();  // none of its probes has a number
  }
  return status;
}

// What tells of the new classes comes before their first event.
Status LateProbes::tell_classes(const LibraryHooks& hooks) {
  const std::vector<ctf::EventClass>& all = trace_.context.classes.classes();
  if (all.size() == trace_.schema.classes.size()) return {};
  trace_.schema.classes = all;  // another process may have brought some
  trace_.target.source().events().add_classes(all);
  TRY_OK(hooks.before_events());
  if (!trace_.target.source().describe(trace_.schema)) hooks.notice(kNoRoomToDescribe);
  return {};
}

Status LateProbes::arm_plan(ProbePlan& plan, std::span<const proc::Map> mapped, const LibraryHooks& hooks) {
  TraceContext& context = trace_.context;
  probe::Instrumentation& pads = *trace_.target.pads();
  plan.first = pads.probe_count();
  const size_t targets = trace_.plans.target_count();
  TRY_OK(check_number(context.options, targets));
  if (plan.nothing_can_be_armed()) {
    plan.planned.clear();
    plan.points.clear();
    return {};
  }
  TRY_OK(pads.check_room(plan.points.size()));
  TRY(const std::vector<jit::Action> actions,
      context.classes.add(plan.places(context.options), pads.geometry().class_count));
  plan.set_actions(actions, targets - plan.targets.size());
  tell_rate(plan.probes, context.latency_rate);
  if (makes_events(context.options)) trace_.names.add_places(plan.place_names(context.classes.classes()));
  TRY_OK(tell_classes(hooks));
  trace_.names.tell_places(ctf::HostClocks::monotonic_ns());
  return pads.add(mapped, plan.modules, std::move(plan.sites), plan.hand_over());
}

void LateProbes::tell_armed(const ProbePlan& plan, const LibraryHooks& hooks) const {
  const probe::ArmReport& report = trace_.target.source().report();
  const Options& options = trace_.context.options;
  const std::vector<std::string> refusals = plan.refusals_after(report.refused);
  std::vector<size_t> armed(plan.modules.size());
  for (size_t i = 0; i < plan.targets.size(); ++i)
    if (refusals[i].empty()) ++armed[plan.targets[i].module];
  for (size_t m = 0; m < armed.size(); ++m)
    if (armed[m] != 0)
      hooks.notice(fmt::format("{}: armed {} probes (target paused {:.2f} ms)", plan.modules[m].basename(),
                               armed[m], to_ms(report.last_paused)));
  const size_t moved = plan.moved_faults(refusals);
  const bool is_asked_for = options.moved_faults == MovedFaults::kAccept;
  if (moved != 0 && (is_asked_for || options.verbose)) hooks.notice(moved_faults_text(moved));
  if (options.verbose) tell_refused(plan, refusals, hooks);
}

void LateProbes::tell_refused(const ProbePlan& plan, const std::vector<std::string>& refusals,
                              const LibraryHooks& hooks) const {
  for (const Refusal& refusal : plan.refused)
    hooks.notice(fmt::format("refused {}: {}", refusal.probe, refusal.reason));
  for (size_t i = 0; i < refusals.size(); ++i)
    if (!refusals[i].empty())
      hooks.notice(fmt::format("refused {}: {}", name_of(plan.targets[i], plan.modules), refusals[i]));
}

}  // namespace blip::session
