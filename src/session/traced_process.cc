// SPDX-License-Identifier: MIT
#include "session/traced_process.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/progress.h"
#include "probe/functions.h"
#include "probe/leftovers.h"
#include "probe/plan.h"
#include "proc/cpu.h"
#include "proc/status.h"
#include "session/pad_source.h"
#include "session/plan_options.h"
#include "session/trampoline_room.h"
#include "session/uprobe_source.h"

namespace blip::session {

namespace {

constexpr uint64_t kLeastSharedRing = 1 << 20;
constexpr uint32_t kMinSlotSize = 64;
constexpr uint32_t kSchemaRoom = 16 << 10;  // for where the trace goes, and a long command line

bool is_trap(const probe::Probe& probe) {
  return !probe.planned.refused() && probe.planned.step == x86::Step::kTrap;
}

double to_ms(std::chrono::nanoseconds t) { return std::chrono::duration<double, std::milli>(t).count(); }

}  // namespace

Result<std::unique_ptr<TracedProcess>> TracedProcess::plan(proc::Process process, TraceContext& context,
                                                           const PlanScope& scope) {
  const progress::Step step(fmt::format("reading the modules of process {}", process.pid()));
  TRY(proc::Memory memory, proc::Memory::open(process.pid()));
  std::unique_ptr<TracedProcess> self(new TracedProcess(std::move(process), std::move(memory), context));
  TRY_OK(self->make_plan(scope));
  return self;
}

TracedProcess::~TracedProcess() {
  if (!source_ || disarmed_) return;
  Summary nobody_reads_it;
  disarm(nobody_reads_it);
}

// targets_, from what the user asked for.
Status TracedProcess::resolve(const PlanScope& scope, const probe::ResolveContext& where) {
  TRY(FoundTargets found, find_targets(context_.options, modules_, where, scope.part_will_do));
  targets_ = std::move(found.targets);
  refused_ = std::move(found.refused);
  if (scope.only) std::erase_if(targets_, [&](const Target& t) { return !scope.only(modules_[t.module]); });
  if (targets_.empty())
    return refused_.empty() ? Error(ErrorKind::kNotFound, "nothing matches") : all_refused();
  return check_number();
}

// Making a million names takes a second.
bool TracedProcess::needs_name(const Target& target) const {
  return context_.options.mode == Mode::kCount ||
         context_.options.probes[target.request].kind != ProbeKind::kEveryInstruction;
}

Status TracedProcess::check_number() const {
  const Options& options = context_.options;
  if (targets_.size() <= options.max_probes) return check_histograms(targets_.size());
  const bool functions_only = std::all_of(
      options.probes.begin(), options.probes.end(),
      [](const ProbeRequest& r) { return r.kind == ProbeKind::kFunction || r.kind == ProbeKind::kReturn; });
  return Error(ErrorKind::kUsage, fmt::format("{} {} match, more than {}: say --max-probes {} if you mean it",
                                              targets_.size(), functions_only ? "functions" : "instructions",
                                              options.max_probes, targets_.size()));
}

Status TracedProcess::make_plan(const PlanScope& scope) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY(probe::LoadedModules loaded, probe::load_modules(process_, memory_, maps, context_.files));
  modules_ = std::move(loaded.modules);
  modules_complete_ = loaded.unreadable.empty();
  for (const probe::UnreadableModule& m : loaded.unreadable) notes_.push_back(m.text());
  TRY_OK(resolve(scope, {&memory_, loaded.unreadable, maps}));
  for (const probe::Module& m : modules_) notes_.insert(notes_.end(), m.notes().begin(), m.notes().end());
  ExpandedTargets expanded = expand_targets(context_.options, targets_, modules_);
  points_ = std::move(expanded.points);
  target_refusals_ = std::move(expanded.refused);
  sites_.resize(modules_.size());
  if (context_.options.backend == Backend::kUprobe) {
    plan_uprobes();
  } else {
    TRY_OK(plan_pads(maps));
  }
  if (std::none_of(target_refusals_.begin(), target_refusals_.end(),
                   [](const std::string& refusal) { return refusal.empty(); }))
    return all_refused();
  return {};
}

// Where a part of a group is refused, the others are taken out and everything is planned again: they may
// have been in the way of something.
Status TracedProcess::plan_pads(const std::vector<proc::Map>& maps) {
  constexpr int kRounds = 3;
  TRY(probe::PlanOptions options, plan_options_of(process_.pid(), modules_));
  if (context_.options.allow_trap) options.traps = x86::TrapUse::kLast;
  if (context_.options.backend == Backend::kTrap) options.traps = x86::TrapUse::kAlways;
  for (int round = 1;; ++round) {
    probes_.assign(points_.size(), {});
    x86::TrampolineSpace space =
        room_for_trampolines(maps, points_.size(), context_.options.mode == Mode::kCount);
    for (size_t m = 0; m < modules_.size(); ++m) plan_module(m, options, space);
    if (!refuse_broken_groups() || round == kRounds) return {};
    std::erase_if(points_, [&](const ProbePoint& p) { return !target_refusals_[p.target].empty(); });
  }
}

void TracedProcess::plan_module(size_t module, const probe::PlanOptions& options,
                                x86::TrampolineSpace& space) {
  std::vector<size_t> mine;
  std::vector<probe::Point> points;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (targets_[points_[i].target].module != module) continue;
    mine.push_back(i);
    points.push_back(points_[i].point);
  }
  if (mine.empty()) return;
  probe::ModulePlan plan = probe::plan_points(modules_[module], points, options, space);
  for (size_t i = 0; i < mine.size(); ++i)
    probes_[mine[i]] = {.module = module, .planned = std::move(plan.probes[i]), .program = {}};
  sites_[module] = std::move(plan.sites);
}

// True: some are refused whose other parts were planned for nothing.
bool TracedProcess::refuse_broken_groups() {
  bool for_nothing = false;
  for (size_t i = 0; i < points_.size(); ++i) {
    const ProbePoint& p = points_[i];
    std::string& refusal = target_refusals_[p.target];
    if (!probes_[i].planned.refused() || !refusal.empty()) continue;
    refusal = probes_[i].planned.refusal;
    const bool is_exit = p.role == ProbePoint::Role::kReturn || p.role == ProbePoint::Role::kTailJump;
    if (is_exit) refusal = fmt::format("its exit at {:#x}: {}", p.point.addr.value, refusal);
    for_nothing |= p.role != ProbePoint::Role::kHit;
  }
  for (size_t i = 0; i < points_.size(); ++i)
    if (const std::string& refusal = target_refusals_[points_[i].target]; !refusal.empty())
      probes_[i].planned.refusal = refusal;
  return for_nothing;
}

// The kernel needs no room for a jump: what it refuses it says itself.
void TracedProcess::plan_uprobes() {
  probes_.resize(points_.size());
  for (size_t i = 0; i < points_.size(); ++i) {
    const size_t target = points_[i].target;
    probes_[i].module = targets_[target].module;
    if (points_[i].point.function.is_ifunc)
      probes_[i].planned.refusal = target_refusals_[target] =
          "an IFUNC: what it stands for is chosen in the process, and not known here";
  }
}

// Said before the target is touched.
Error TracedProcess::all_refused() const {
  constexpr size_t kShown = 5;
  std::vector<Refusal> all = refused_;
  for (size_t i = 0; i < targets_.size(); ++i)
    all.push_back({name_of(targets_[i], modules_), target_refusals_[i]});
  std::string text = "nothing can be armed";
  for (size_t i = 0; i < std::min(kShown, all.size()); ++i)
    text += fmt::format("{} {}: {}", i == 0 ? ":" : ";", all[i].probe, all[i].reason);
  if (all.size() > kShown) text += fmt::format("; and {} more", all.size() - kShown);
  return Error(ErrorKind::kUnsupported, text);
}

size_t TracedProcess::most_classes() const {
  if (context_.options.mode != Mode::kCount) return abi::kMaxClasses - abi::kFirstClass;
  const auto cpus = proc::possible_cpus();
  const uint64_t bytes_each = abi::kCounterKinds * (cpus.value_or(1) + uint64_t{1}) * sizeof(uint64_t);
  return std::min<uint64_t>(abi::kMaxCounted, (abi::kMaxCounterBytes >> 1) / bytes_each) - abi::kFirstClass;
}

abi::Geometry TracedProcess::geometry(uint32_t largest_record) const {
  const Options& options = context_.options;
  abi::Geometry g{.class_count = static_cast<uint32_t>(context_.classes.classes().size()) + abi::kFirstClass};
  g.latencies = options.latencies;
  if (options.mode == Mode::kCount) return g;
  g.subbuf_count = options.subbuf_count;
  g.subbuf_size = context_.subbuf_size;
  g.slot_size = std::max(kMinSlotSize, std::bit_ceil(largest_record + 16));
  // Programs without restartable sequences (musl, Go) have nothing else.
  const uint64_t shared_ring = std::max(kLeastSharedRing, g.ring_size());
  g.slot_count = static_cast<uint32_t>(std::bit_floor(shared_ring) / g.slot_size);
  return g;
}

Status TracedProcess::arm() {
  TRY(const probe::Leftovers leftovers, probe::clean_leftovers(process_, memory_));
  if (const auto text = leftovers.text()) notes_.push_back(*text);
  kept_ = leftovers.kept;
  std::vector<ProbedPlace> places;
  places.reserve(targets_.size());
  for (const Target& t : targets_) {
    const probe::Module& module = modules_[t.module];
    places.push_back({needs_name(t) ? name_of(t, modules_) : "", module.basename(), t.point.addr, t.request,
                      module.to_target(t.point.addr).value});
  }
  std::vector<jit::Program> programs = context_.classes.add(places);
  if (const size_t most = most_classes(); context_.classes.classes().size() > most)
    return Error(ErrorKind::kUsage, fmt::format("too many probes: at most {}", most));
  TRY_OK(check_histograms(context_.classes.classes().size()));
  measure_clock();
  uint32_t largest = 0;
  for (size_t i = 0; i < probes_.size(); ++i) {
    const ProbePoint& p = points_[i];
    const probe::Module& module = modules_[targets_[p.target].module];
    probes_[i].program = program_at(p, programs[p.target], module.to_target(p.point.addr).value);
    if (probes_[i].program.is_return)
      probes_[i].program.filter = jit::in_clock_units(
          context_.options.probes[targets_[p.target].request].filter, context_.latency_rate);
    if (p.role != ProbePoint::Role::kHit) probes_[i].group = p.target;
    largest = std::max(largest, probes_[i].program.record_size);
  }
  schema_ = {.start = context_.clock.sample(),
             .monotonic = context_.clock.clocks().counter_is_monotonic,
             .vpid = process_.ns_pid(),
             .classes = context_.classes.classes()};
  TRY(source_, make_source(largest));
  return {};
}

Status TracedProcess::check_histograms(size_t functions) const {
  if (!context_.options.latencies) return {};
  TRY(const unsigned cpus, proc::possible_cpus());
  const abi::Geometry g{.ring_count = cpus,
                        .class_count = static_cast<uint32_t>(functions) + abi::kFirstClass,
                        .latencies = true};
  const uint64_t bytes = g.latency_row_size() * (uint64_t{cpus} + 1);
  if (bytes <= abi::kMaxLatencyBytes) return {};
  return Error(
      ErrorKind::kUsage,
      fmt::format("--latency: the histograms of {} functions on {} CPUs would take {} MiB, and {} are "
                  "allowed: name fewer functions",
                  functions, cpus, bytes >> 20, abi::kMaxLatencyBytes >> 20));
}

// One rate for all latencies of a trace, so that filters and events agree: the later, the better it is known.
void TracedProcess::measure_clock() {
  if (context_.latency_rate != 0) return;
  context_.clock.sample();
  const double ns_per_unit =
      context_.clock.clocks().counter_is_monotonic ? 1 : 1e9 / context_.clock.cycles_per_second();
  context_.latency_rate =
      static_cast<uint64_t>(ns_per_unit * static_cast<double>(uint64_t{1} << ctf::ClockSegment::kShift));
}

void TracedProcess::tell_output(const ctf::TraceInfo& info, const ctf::Uuid& uuid, const std::string& dir,
                                const std::string& prefix) {
  schema_.info = info;
  schema_.uuid = uuid;
  schema_.dir = dir;
  schema_.prefix = prefix;
  source_->describe(schema_);
}

Result<std::unique_ptr<EventSource>> TracedProcess::make_source(uint32_t largest) {
  const ConsumerInput input{.pid = process_.pid(),
                            .vpid = process_.ns_pid(),
                            .classes = context_.classes.classes(),
                            .clock = context_.clock,
                            .limit = context_.limit,
                            .latency_rate = context_.latency_rate};
  if (context_.options.backend == Backend::kUprobe) {
    std::vector<UprobeSource::Probe> probes;
    for (size_t i = 0; i < probes_.size(); ++i)
      probes.push_back({modules_[probes_[i].module].to_target(points_[i].point.addr), probes_[i].program,
                        probes_[i].planned.refused()});
    TRY(std::unique_ptr<EventSource> source,
        UprobeSource::arm(process_, memory_, std::move(probes), geometry(largest).ring_size(), input));
    return source;
  }
  abi::Geometry shape = geometry(largest);
  const std::string schema = shape.subbuf_size == 0 ? "" : to_text(schema_);
  if (!schema.empty()) shape.schema_size = static_cast<uint32_t>(schema.size()) + kSchemaRoom;
  TRY(std::unique_ptr<EventSource> source,
      PadSource::arm({.process = process_,
                      .memory = memory_,
                      .modules = modules_,
                      .sites = std::move(sites_),
                      .probes = probes_,
                      .options = {.geometry = shape,
                                  .modules_complete = modules_complete_,
                                  .follow_fork = context_.options.follow_fork,
                                  .monotonic_clock = context_.clock.clocks().counter_is_monotonic,
                                  .returns = asks_for_returns(),
                                  .kept = kept_,
                                  .schema = schema}},
                     input));
  return source;
}

bool TracedProcess::asks_for_returns() const {
  const auto& probes = context_.options.probes;
  return std::any_of(probes.begin(), probes.end(),
                     [](const ProbeRequest& r) { return r.kind == ProbeKind::kReturn; });
}

// By target: why it is not armed, or nothing.
std::vector<std::string> TracedProcess::all_refusals() const {
  std::vector<std::string> refusals = target_refusals_;
  for (const auto& [probe, reason] : source_->report().refused)
    if (std::string& refusal = refusals[points_[probe].target]; refusal.empty()) refusal = reason;
  return refusals;
}

void TracedProcess::report(Armed& armed) const {
  const probe::ArmReport& report = source_->report();
  const std::vector<std::string> refusals = all_refusals();
  armed.refused.insert(armed.refused.end(), refused_.begin(), refused_.end());
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (refusals[i].empty()) {
      ++armed.probes;
    } else {
      armed.refused.push_back({name_of(targets_[i], modules_), refusals[i]});
    }
  }
  std::set<size_t> trapped;
  for (size_t i = 0; i < probes_.size(); ++i)
    if (is_trap(probes_[i]) && refusals[points_[i].target].empty()) trapped.insert(points_[i].target);
  armed.traps += trapped.size();
  armed.notes.insert(armed.notes.end(), notes_.begin(), notes_.end());
  armed.notes.insert(armed.notes.end(), report.notes.begin(), report.notes.end());
  armed.paused_ms = std::max(armed.paused_ms, to_ms(report.paused));
}

std::string TracedProcess::place_of(TargetAddr address) const {
  for (const probe::Module& module : modules_) {
    const FileAddr in_file = module.to_file(address);
    if (!module.file().is_code(in_file)) continue;
    const auto function = probe::function_around(module, in_file);
    if (function && *function) return probe::place_name(module, **function, in_file);
  }
  return {};
}

// exec leaves the process, but not the memory we knew.
bool TracedProcess::has_left() {
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

std::optional<End> TracedProcess::gone() {
  if (!has_left()) return {};
  return source_->children_live() ? std::nullopt : left_;
}

int TracedProcess::poll_fd() const {
  if (!left_) return process_.pidfd();
  return source_->child_pidfd();
}

bool TracedProcess::disarm(Summary& summary) {
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

// Class ids.
std::vector<uint32_t> TracedProcess::armed_classes() const {
  const std::vector<std::string> refusals = all_refusals();
  std::vector<uint32_t> armed;
  for (size_t i = 0; i < probes_.size(); ++i)
    if (refusals[points_[i].target].empty()) armed.push_back(probes_[i].program.class_id);
  std::sort(armed.begin(), armed.end());
  armed.erase(std::unique(armed.begin(), armed.end()), armed.end());
  return armed;
}

void TracedProcess::add_hits(std::vector<std::optional<uint64_t>>& hits) const {
  hits.resize(context_.classes.classes().size());
  for (uint32_t id : armed_classes()) {
    std::optional<uint64_t>& sum = hits[id - abi::kFirstClass];
    sum = sum.value_or(0) + source_->class_hits(id);
  }
}

void TracedProcess::add_calls(std::vector<std::optional<CallTotals>>& calls) const {
  if (!asks_for_returns()) return;
  calls.resize(context_.classes.classes().size());
  for (uint32_t id : armed_classes()) {
    const size_t index = id - abi::kFirstClass;
    if (context_.options.probes[context_.classes.request_of(index)].kind != ProbeKind::kReturn) continue;
    if (!calls[index]) calls[index].emplace();
    *calls[index] += source_->class_calls(id);
  }
}

}  // namespace blip::session
