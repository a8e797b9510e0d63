// SPDX-License-Identifier: MIT
#include "session/process/process_plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/path.h"
#include "elf/match.h"
#include "jit/program/hit_needs.h"
#include "probe/code/functions.h"
#include "probe/code/resolve.h"
#include "probe/patch/plan.h"
#include "proc/files/shared_root.h"
#include "session/plan/plan_options.h"
#include "session/plan/probe_room.h"
#include "session/plan/requests.h"

namespace blip::session {

namespace {

constexpr size_t kMostNames = 5;  // in a remark

bool may_probe_later(const PlanScope& scope, const Options& options) {
  return !scope.only && options.backend != Backend::kUprobe;
}

bool names_absent_module(const elf::Spec& spec, std::span<const probe::Module> modules,
                         std::span<const probe::UnreadableModule> unreadable) {
  const auto is_meant = [&](const std::string& path) {
    return elf::module_matches(*spec.module, basename_of(path));
  };
  return spec.module && spec.kind != elf::SpecKind::kAddress &&
         std::none_of(modules.begin(), modules.end(),
                      [&](const probe::Module& m) { return is_meant(m.path()); }) &&
         std::none_of(unreadable.begin(), unreadable.end(),
                      [&](const probe::UnreadableModule& m) { return is_meant(m.path); });
}

class Planner {
 public:
  Planner(const TargetProcess& target, TraceContext& context, const PlanScope& scope)
      : process_(target.process()), memory_(target.memory()), context_(context), scope_(scope) {}

  Result<ProcessPlan> make();

 private:
  bool may_be_empty() const;
  RequestMask present_requests(const probe::ResolveContext& where) const;
  Status resolve(const probe::ResolveContext& where);
  void tell_where_found();
  bool is_in_executable(size_t request) const;
  void find_late_requests();
  void find_lives();
  void watch_libraries();
  Status plan_patches();

  const proc::Process& process_;
  const proc::Memory& memory_;
  TraceContext& context_;
  const PlanScope& scope_;
  ProcessPlan made_;
  ProbePlan& plan_ = made_.probes;
};

// Nothing need match now if a library may come.
bool Planner::may_be_empty() const {
  const Options& options = context_.options;
  if (options.probes.empty()) return true;
  const bool names_module = std::any_of(options.probes.begin(), options.probes.end(),
                                        [](const ProbeRequest& r) { return r.spec.module.has_value(); });
  return may_probe_later(scope_, options) && (options.wait_library || (options.follow_exec && names_module));
}

// Those that must match now. A SPEC of a library that is not loaded waits for it, if there is something else
// to do meanwhile. Empty: all must.
RequestMask Planner::present_requests(const probe::ResolveContext& where) const {
  const Options& options = context_.options;
  RequestMask present(options.probes.size(), true);
  if (!may_probe_later(scope_, options) || present.size() == 1) return {};
  for (size_t i = 0; i < present.size(); ++i) {
    elf::Spec spec = options.probes[i].spec;
    present[i] = !names_absent_module(spec, plan_.modules, where.unreadable);
    if (!present[i] || !spec.module || !elf::is_glob(*spec.module)) continue;
    if (options.probes[i].kind == ProbeKind::kMark) continue;
    if (spec.kind == elf::SpecKind::kSymbolOffset) spec.kind = elf::SpecKind::kName;
    present[i] = probe::resolve_functions({&spec, 1}, plan_.modules, {.hints = false}).has_value();
  }
  return std::find(present.begin(), present.end(), true) == present.end() ? RequestMask() : present;
}

// Where a SPEC was found that does not say where to look, if that may surprise.
void Planner::tell_where_found() {
  const auto& probes = context_.options.probes;
  for (size_t i = 0; i < probes.size(); ++i) {
    const elf::Spec& spec = probes[i].spec;
    if (probes[i].kind == ProbeKind::kMark) continue;  // in all modules
    std::set<std::string> where, names;
    bool as_written = false;
    for (const Target& t : plan_.targets) {
      if (t.request != i) continue;
      where.insert(plan_.modules[t.module].basename());
      if (spec.kind != elf::SpecKind::kName || !t.point.is_entry || t.instance) continue;
      if (elf::FunctionMatcher(spec).matches(t.point.function))
        as_written = true;
      else
        names.insert(probe::display_name(plan_.modules[t.module], t.point.function));
    }
    if (spec.kind == elf::SpecKind::kGlob && !spec.module && !where.empty() &&
        !where.contains(plan_.modules.front().basename()))
      made_.remarks.push_back(fmt::format("{}: nothing in the executable matches: found in {}", spec.text,
                                          fmt::join(where, ", ")));
    const std::string_view means = as_written ? "also means" : "means";
    if (!names.empty() && names.size() <= kMostNames)
      made_.remarks.push_back(fmt::format("{} {} {}", spec.text, means, fmt::join(names, ", ")));
    if (names.size() > kMostNames)
      made_.remarks.push_back(
          fmt::format("{} {} {} functions, such as {}", spec.text, means, names.size(), *names.begin()));
  }
}

// plan_.targets, from what the user asked for.
Status Planner::resolve(const probe::ResolveContext& where) {
  const Options& options = context_.options;
  const RequestMask present = present_requests(where);
  TRY(FoundTargets found, find_targets(options, plan_.modules, {where, context_.debug},
                                       scope_.part_will_do || may_be_empty(), present));
  plan_.targets = std::move(found.targets);
  plan_.refused = std::move(found.refused);
  made_.notes.insert(made_.notes.end(), found.notes.begin(), found.notes.end());
  if (scope_.only)
    std::erase_if(plan_.targets, [&](const Target& t) { return !scope_.only(plan_.modules[t.module]); });
  tell_where_found();
  for (const probe::Module& module : plan_.modules) module.release_pages();
  if (plan_.targets.empty() && !plan_.refused.empty()) return plan_.all_refused();
  if (plan_.targets.empty() && !may_be_empty()) return Error(ErrorKind::kNotFound, "nothing matches");
  if (plan_.targets.empty() && !options.probes.empty())
    made_.remarks.push_back("nothing matches yet: waiting for libraries that come later");
  for (size_t i = 0; i < present.size(); ++i)
    if (!present[i])
      made_.remarks.push_back(
          fmt::format("{}: waiting for a library that is not loaded yet", options.probes[i].spec.text));
  return check_number(options, plan_.targets.size());
}

// It may be there without a symbol: inlined.
bool Planner::is_in_executable(size_t request) const {
  return std::any_of(plan_.targets.begin(), plan_.targets.end(), [&](const Target& t) {
    return t.request == request && plan_.modules[t.module].is_executable();
  });
}

// As SPECs go: a name or pattern without MODULE means the executable, if that has what matches.
void Planner::find_late_requests() {
  const auto& probes = context_.options.probes;
  made_.late.assign(probes.size(), false);
  for (size_t i = 0; i < probes.size(); ++i) {
    const elf::Spec& spec = probes[i].spec;
    if (probes[i].kind == ProbeKind::kMark) {
      made_.late[i] = true;
    } else if (spec.kind == elf::SpecKind::kGlob && !spec.module) {
      made_.late[i] = !is_in_executable(i);
    } else if (probes[i].kind == ProbeKind::kLine || (spec.module && spec.kind != elf::SpecKind::kAddress)) {
      made_.late[i] = true;
    } else if (spec.kind == elf::SpecKind::kName || spec.kind == elf::SpecKind::kSymbolOffset) {
      elf::Spec name = spec;
      name.kind = elf::SpecKind::kName;
      made_.late[i] =
          !is_in_executable(i) &&
          !probe::resolve_functions({&name, 1}, std::span(plan_.modules).first(1), {.hints = false});
    }
  }
  if (std::find(made_.late.begin(), made_.late.end(), true) == made_.late.end()) made_.late.clear();
}

// Where threads and processes end. Those that begin are announced by what stands in for clone.
void Planner::find_lives() {
  if (!context_.lives || context_.options.backend == Backend::kUprobe) return;
  for (probe::LifeSite& site : probe::find_life_sites(plan_.modules))
    if (!scope_.only || scope_.only(plan_.modules[site.module])) plan_.lives.push_back(std::move(site));
  plan_.life_class = context_.lives->first_class;
}

void Planner::watch_libraries() {
  find_late_requests();
  made_.watches_libraries = !made_.late.empty() || walks_stacks(context_.options);
  if (made_.watches_libraries && process_.seccomp_mode() == 0)
    plan_.loader = probe::find_loader_hook(plan_.modules);
}

Status Planner::plan_patches() {
  const Options& options = context_.options;
  if (options.backend == Backend::kUprobe) {
    plan_.plan_uprobes();
    return {};
  }
  TRY(probe::PlanOptions how, plan_options_of(process_.pid(), plan_.modules, options.moved_faults));
  if (options.allow_trap) how.traps = x86::TrapUse::kLast;
  if (options.backend == Backend::kTrap) how.traps = x86::TrapUse::kAlways;
  plan_.plan_pads(options, how, made_.maps);
  return {};
}

Result<ProcessPlan> Planner::make() {
  const Options& options = context_.options;
  TRY(made_.maps, proc::read_maps(process_.pid()));
  TRY(probe::LoadedModules loaded, probe::load_modules(process_, memory_, made_.maps, context_.files));
  plan_.modules = std::move(loaded.modules);
  context_.debug.share_root(proc::shares_root(process_.pid()));
  made_.modules_complete = loaded.unreadable.empty();
  for (const probe::UnreadableModule& m : loaded.unreadable) made_.notes.push_back(m.text());
  find_lives();
  TRY_OK(resolve({.memory = &memory_, .unreadable = loaded.unreadable, .maps = made_.maps}));
  for (const probe::Module& m : plan_.modules)
    made_.notes.insert(made_.notes.end(), m.notes().begin(), m.notes().end());
  plan_.expand(options);
  TRY_OK(plan_.find_data(options, context_.debug));
  made_.remarks.insert(made_.remarks.end(), plan_.remarks.begin(), plan_.remarks.end());
  plan_.share_calls(options);
  for (std::string& note : context_.debug.notes()) made_.notes.push_back(std::move(note));
  if (may_probe_later(scope_, options)) watch_libraries();
  TRY_OK(plan_patches());
  if (options.probes.empty()) return std::move(made_);  // pads of blip's own alone
  if (plan_.targets.empty() && made_.late.empty()) return Error(ErrorKind::kNotFound, "nothing matches");
  if (!plan_.targets.empty() && plan_.nothing_can_be_armed()) return plan_.all_refused();
  return std::move(made_);
}

}  // namespace

bool ProcessPlan::means(const Options& options, size_t request) const {
  if (!late.empty() && late[request] && options.probes[request].spec.module) return true;
  return std::any_of(probes.targets.begin(), probes.targets.end(),
                     [&](const Target& t) { return t.request == request; });
}

bool ProcessPlan::reads_memory(const Options& options) const {
  if (options.backend == Backend::kUprobe) return false;
  if (walks_stacks(options)) return true;
  if (!late.empty() && any_asks(options, asks_for_data)) return true;
  const auto reads = [](const probe::Probe& p) { return jit::reads_far(p.action.hit); };
  return std::any_of(probes.probes.begin(), probes.probes.end(), reads) ||
         std::any_of(probes.handed_over.begin(), probes.handed_over.end(),
                     [](const ProbePlan::HandedOver& p) { return p.reads_far; });
}

Result<ProcessPlan> plan_process(const TargetProcess& target, TraceContext& context, const PlanScope& scope) {
  return Planner(target, context, scope).make();
}

}  // namespace blip::session
