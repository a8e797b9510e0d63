// SPDX-License-Identifier: MIT
#include "session/plan/probe_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/give_back.h"
#include "jit/program/hit_needs.h"
#include "jit/stubs.h"
#include "probe/code/functions.h"
#include "script/names.h"
#include "session/plan/purpose.h"
#include "session/plan/requests.h"
#include "session/plan/trampoline_room.h"
#include "session/watch/life_record.h"

namespace blip::session {

namespace {

// Making a million names takes a second.
bool needs_name(const Options& options, const Target& target) {
  return !makes_events(options) || options.probes[target.request].kind != ProbeKind::kEveryInstruction;
}

// As offsets are added to it.
std::string function_name(const probe::Module& module, const elf::Function& function) {
  constexpr std::string_view kNoOffset = "+0x0";
  std::string name = probe::place_name(module, function, function.addr);
  if (name.ends_with(kNoOffset)) name.resize(name.size() - kNoOffset.size());
  return name;
}

// A record of who comes to the call, and of its first argument: the status that it ends with.
jit::Action life_action(uint32_t number, uint32_t first_class) {
  constexpr uint8_t kRdi = 7;
  const LifeRecord::Kind kind = number == probe::kExitNumber        ? LifeRecord::kExit
                                : number == probe::kExitGroupNumber ? LifeRecord::kExitGroup
                                                                    : LifeRecord::kExec;
  jit::Action action{.class_id = first_class + kind, .record_size = jit::kLifeSize};
  action.fields = {{.capture = jit::Capture::kTid, .offset = jit::kLifeTid},
                   {.capture = jit::Capture::kRegister, .reg = kRdi, .offset = jit::kLifeValue}};
  return action;
}

}  // namespace

void ProbePlan::expand(const Options& options) {
  ExpandedTargets expanded = expand_targets(options, targets, modules);
  points = std::move(expanded.points);
  refusals = std::move(expanded.refused);
  sites.resize(modules.size());
}

Status ProbePlan::find_data(const Options& options, DebugStore& store) {
  if (std::none_of(options.probes.begin(), options.probes.end(), asks_for_data)) return {};
  HitDataMaker maker(options, modules, store);
  data.resize(targets.size());
  std::vector<bool> has_some(options.probes.size());
  std::vector<std::optional<Error>> first_error(options.probes.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const size_t request = targets[i].request;
    if (!refusals[i].empty() || !asks_for_data(options.probes[request])) continue;
    auto made = maker.make(targets[i]);
    has_some[request] = has_some[request] || made.has_value();
    if (made) {
      data[i] = *std::move(made);
    } else {
      refusals[i] = made.error().message();
      if (!first_error[request]) first_error[request] = made.error();
    }
  }
  const bool has_any = std::any_of(refusals.begin(), refusals.end(), [](const auto& r) { return r.empty(); });
  std::optional<Error> nothing;
  for (size_t r = 0; r < has_some.size(); ++r) {
    if (!first_error[r] || has_some[r]) continue;
    const std::string& name = options.probes[r].spec.text;
    const Error named = options.probes.size() == 1 ? *first_error[r] : first_error[r]->with_context(name);
    if (named.message().find(script::kReturnsNothing) == std::string::npos) return named;
    if (!nothing) nothing = named;
    remarks.push_back(fmt::format("{} is not probed: {}", name, script::kReturnsNothing));
  }
  if (nothing && !has_any) return *nothing;
  std::erase_if(points, [&](const ProbePoint& p) { return !refusals[p.target].empty(); });
  return {};
}

void ProbePlan::share_calls(const Options& options) {
  calls = SharedCalls(options, targets, data, refusals);
  std::erase_if(points, [&](const ProbePoint& p) { return !refusals[p.target].empty(); });
}

// If a part of a group is refused, the others are taken out and everything is planned again: they may have
// been in the way of something.
void ProbePlan::plan_pads(const Options& options, const probe::PlanOptions& how,
                          const std::vector<proc::Map>& maps) {
  constexpr int kRounds = 3;
  for (int round = 1;; ++round) {
    for (const probe::Module& module : modules) module.release_pages();
    planned.assign(points.size(), {});
    life_probes.clear();
    x86::TrampolineSpace space = room_for_trampolines(maps, points.size(), !makes_events(options));
    for (size_t m = 0; m < modules.size(); ++m) plan_module(m, how, space);
    give_back_memory();
    if (!refuse_broken_groups() || round == kRounds) return;
    std::erase_if(points, [&](const ProbePoint& p) { return !refusals[p.target].empty(); });
  }
}

void ProbePlan::plan_module(size_t module, const probe::PlanOptions& how, x86::TrampolineSpace& space) {
  std::vector<size_t> mine;
  std::vector<probe::Point> wanted;
  const auto is_mine = [&](const ProbePoint& p) { return targets[p.target].module == module; };
  const auto count = static_cast<size_t>(std::count_if(points.begin(), points.end(), is_mine));
  mine.reserve(count);
  wanted.reserve(count + 1);
  for (size_t i = 0; i < points.size(); ++i) {
    if (!is_mine(points[i])) continue;
    mine.push_back(i);
    wanted.push_back(points[i].point);
  }
  const bool has_hook = loader && loader->module == module;
  if (has_hook)
    wanted.push_back({.addr = loader->function.addr,
                      .is_entry = true,
                      .function = loader->function,
                      .shown = x86::Shown::nothing()});
  free_contents(sites[module]);
  std::vector<const probe::LifeSite*> my_lives;
  for (const probe::LifeSite& life : lives) {
    if (life.module != module) continue;
    my_lives.push_back(&life);
    wanted.push_back(life.point);
  }
  if (wanted.empty()) return;
  probe::ModulePlan plan = probe::plan_points(modules[module], wanted, how, space);
  for (size_t i = 0; i < mine.size(); ++i) planned[mine[i]] = std::move(plan.probes[i]);
  if (has_hook)
    loader_probe = {.module = module,
                    .planned = std::move(plan.probes[mine.size()]),
                    .action = {.effect = jit::Effect::kTellLibraries}};
  for (size_t i = 0; i < my_lives.size(); ++i)
    life_probes.push_back({.module = module,
                           .planned = std::move(plan.probes[mine.size() + has_hook + i]),
                           .action = life_action(my_lives[i]->number, life_class)});
  sites[module] = std::move(plan.sites);
  modules[module].release_pages();  // it may have read all of them
}

// True: some are refused whose other parts were planned for nothing.
bool ProbePlan::refuse_broken_groups() {
  bool for_nothing = false;
  for (size_t i = 0; i < points.size(); ++i) {
    const ProbePoint& p = points[i];
    std::string& refusal = refusals[p.target];
    if (!planned[i].refused() || !refusal.empty()) continue;
    refusal = planned[i].refusal;
    const bool is_exit = p.role == ProbePoint::Role::kReturn || p.role == ProbePoint::Role::kTailJump;
    if (is_exit) refusal = fmt::format("its exit at {:#x}: {}", p.point.addr.value, refusal);
    for_nothing |= p.role != ProbePoint::Role::kHit;
  }
  for (size_t i = 0; i < points.size(); ++i)
    if (const std::string& refusal = refusals[points[i].target]; !refusal.empty())
      planned[i].refusal = refusal;
  return for_nothing;
}

// The kernel needs no room for a jump: what it refuses it says itself.
void ProbePlan::plan_uprobes() {
  planned.resize(points.size());
  for (size_t i = 0; i < points.size(); ++i)
    if (points[i].point.function.is_ifunc)
      planned[i].refusal = refusals[points[i].target] =
          "an IFUNC: what it stands for is chosen in the process, and not known here";
}

std::vector<ProbedPlace> ProbePlan::places(const Options& options) const {
  std::vector<ProbedPlace> all;
  all.reserve(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const Target& t = targets[i];
    const probe::Module& module = modules[t.module];
    all.push_back({needs_name(options, t) ? name_of(t, modules) : "", module.basename(), t.point.addr,
                   t.request, module.to_target(t.point.addr).value, data.empty() ? HitData() : data[i],
                   t.instance != nullptr, t.point.is_entry});
  }
  return all;
}

// Returns what the entry keeps for the returns of the target.
const script::HitProgram& ProbePlan::kept_by(size_t target) const {
  static const script::HitProgram kNothing;
  if (calls.is_shared(target)) return calls.kept(target);
  return data.empty() ? kNothing : data[target].kept;
}

uint32_t ProbePlan::set_actions(const std::vector<jit::Action>& actions, size_t first_group) {
  uint32_t largest = 0;
  probes.reserve(points.size() + 1 + life_probes.size());  // with those of blip itself
  probes.resize(points.size());
  for (size_t i = 0; i < probes.size(); ++i) {
    const ProbePoint& p = points[i];
    probes[i].module = targets[p.target].module;
    probes[i].planned = std::move(planned[i]);
    const probe::Module& module = modules[probes[i].module];
    if (const auto& mark = targets[p.target].mark; mark && mark->semaphore)
      probes[i].semaphore = module.to_target(*mark->semaphore);
    jit::Action& action = probes[i].action;
    const uint64_t ip = module.to_target(p.point.addr).value;
    const auto number = data.empty() ? std::nullopt : data[p.target].number;
    action = action_at(p, actions[p.target], kept_by(p.target), number.value_or(ip));
    if (action.is_return && action.stack_at != 0) action.stack_at = ip;
    if (p.role != ProbePoint::Role::kHit) probes[i].group = first_group + p.target;
    if (calls.is_shared(p.target)) {
      const size_t leader = calls.leader(p.target);
      action.call = first_group + leader;
      action.frame_id = actions[leader].class_id;
      if (action.is_return) action.hit = calls.renumbered(p.target, std::move(action.hit));
      if (leader != p.target) frame_classes[action.class_id] = action.frame_id;
    }
    largest = std::max(largest, action.record_size);
  }
  free_contents(planned);
  return largest;
}

std::vector<probe::Probe> ProbePlan::hand_over() {
  handed_over.reserve(probes.size());
  for (const probe::Probe& p : probes)
    handed_over.push_back({.class_id = p.action.class_id,
                           .is_trap = !p.planned.refused() && p.planned.step == x86::Step::kTrap,
                           .moves_fault = p.planned.moves_fault,
                           .reads_far = jit::reads_far(p.action.hit)});
  return std::exchange(probes, {});
}

// Instructions of a function have one name together: a million names would take a second to make.
std::vector<PlaceName> ProbePlan::place_names(const std::vector<ctf::EventClass>& classes) const {
  std::vector<PlaceName> names;
  std::map<std::tuple<uint32_t, size_t, uint64_t>, size_t> functions;  // class, module, address
  for (size_t i = 0; i < probes.size(); ++i) {
    const jit::Action& action = probes[i].action;
    if (action.effect != jit::Effect::kRecord || probes[i].planned.refused()) continue;
    if (!classes[action.class_id - abi::kFirstClass].many_places) continue;
    const Target& target = targets[points[i].target];
    const probe::Module& module = modules[target.module];
    const uint64_t ip = module.to_target(points[i].point.addr).value;
    const FileAddr function = target.point.function.addr;
    const bool is_instruction = points[i].role == ProbePoint::Role::kHit && target.name.empty() &&
                                function.value <= points[i].point.addr.value;
    if (!is_instruction) {  // an exit has its function's name
      names.push_back({action.class_id, ip, 1, name_of(target, modules)});
      continue;
    }
    const auto [known, is_new] =
        functions.try_emplace({action.class_id, target.module, function.value}, names.size());
    const uint64_t begin = module.to_target(function).value;
    if (is_new) names.push_back({action.class_id, begin, 1, function_name(module, target.point.function)});
    PlaceName& name = names[known->second];
    name.size = std::max(name.size, ip - begin + 1);
  }
  return names;
}

bool ProbePlan::nothing_can_be_armed() const {
  return std::none_of(refusals.begin(), refusals.end(), [](const std::string& r) { return r.empty(); });
}

Error ProbePlan::all_refused() const {
  constexpr size_t kShown = 5;
  std::vector<Refusal> all = refused;
  for (size_t i = 0; i < targets.size(); ++i) all.push_back({name_of(targets[i], modules), refusals[i]});
  std::string text = "nothing can be armed";
  for (size_t i = 0; i < std::min(kShown, all.size()); ++i)
    text += fmt::format("{} {}: {}", i == 0 ? ":" : ";", all[i].probe, all[i].reason);
  if (all.size() > kShown) text += fmt::format("; and {} more", all.size() - kShown);
  return Error(ErrorKind::kUnsupported, text);
}

size_t ProbePlan::moved_faults(const std::vector<std::string>& by_target) const {
  std::set<size_t> moved;
  for (size_t i = 0; i < handed_over.size(); ++i)
    if (handed_over[i].moves_fault && by_target[points[i].target].empty()) moved.insert(points[i].target);
  return moved.size();
}

std::string moved_faults_text(size_t probes) {
  return fmt::format(
      "{} {} moved an instruction that may fault: where it does, the program's handler sees an address of "
      "blip's (--moved-faults refuse leaves it in place)",
      probes, probes == 1 ? "probe has" : "probes have");
}

std::vector<std::string> ProbePlan::refusals_after(
    const std::vector<std::pair<size_t, std::string>>& refused_later) const {
  std::vector<std::string> all = refusals;
  for (const auto& [probe, reason] : refused_later) {
    if (probe < first || probe - first >= points.size()) continue;
    if (std::string& refusal = all[points[probe - first].target]; refusal.empty()) refusal = reason;
  }
  return all;
}

}  // namespace blip::session
