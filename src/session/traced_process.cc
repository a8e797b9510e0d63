// SPDX-License-Identifier: MIT
#include "session/traced_process.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "base/milliseconds.h"
#include "base/path.h"
#include "base/progress.h"
#include "elf/match.h"
#include "probe/code/functions.h"
#include "probe/inject/leftovers.h"
#include "probe/patch/plan.h"
#include "proc/files/cpu.h"
#include "proc/files/shared_root.h"
#include "proc/files/status.h"
#include "session/pad_source.h"
#include "session/plan/contexts.h"
#include "session/plan/plan_options.h"
#include "session/tell_targets.h"
#include "session/uprobe_source.h"

namespace blip::session {

namespace {

constexpr uint64_t kLeastSharedRing = 1 << 20, kMostEarlyRing = 32 << 20;
constexpr uint32_t kUnusedSubbuf = 4096;
constexpr uint32_t kMinSlotSize = 64;
constexpr uint32_t kSchemaRoom = 16 << 10;  // for where the trace goes, and a long command line
constexpr uint32_t kSchemaPerClass = 256;
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

// Nothing need match now if a library may come.
bool TracedProcess::may_be_empty(const PlanScope& scope) const {
  const Options& options = context_.options;
  if (options.probes.empty()) return true;
  const bool names_module = std::any_of(options.probes.begin(), options.probes.end(),
                                        [](const ProbeRequest& r) { return r.spec.module.has_value(); });
  return may_probe_later(scope, options) && (options.wait_library || (options.follow_exec && names_module));
}

// Those that must match now. A SPEC of a library that is not loaded waits for it, if there is something else
// to do meanwhile. Empty: all must.
RequestMask TracedProcess::present_requests(const PlanScope& scope,
                                            const probe::ResolveContext& where) const {
  const Options& options = context_.options;
  RequestMask present(options.probes.size(), true);
  if (!may_probe_later(scope, options) || present.size() == 1) return {};
  for (size_t i = 0; i < present.size(); ++i) {
    elf::Spec spec = options.probes[i].spec;
    present[i] = !names_absent_module(spec, plan_.modules, where.unreadable);
    if (!present[i] || !spec.module || !elf::is_glob(*spec.module)) continue;
    if (spec.kind == elf::SpecKind::kSymbolOffset) spec.kind = elf::SpecKind::kName;
    present[i] = probe::resolve_functions({&spec, 1}, plan_.modules, {.hints = false}).has_value();
  }
  return std::find(present.begin(), present.end(), true) == present.end() ? RequestMask() : present;
}

bool TracedProcess::means(size_t request) const {
  if (!late_requests_.empty() && late_requests_[request] && context_.options.probes[request].spec.module)
    return true;
  return std::any_of(plan_.targets.begin(), plan_.targets.end(),
                     [&](const Target& t) { return t.request == request; });
}

// Where a SPEC was found that does not say where to look, if that may surprise.
void TracedProcess::tell_where_found() {
  const auto& probes = context_.options.probes;
  for (size_t i = 0; i < probes.size(); ++i) {
    const elf::Spec& spec = probes[i].spec;
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
      remarks_.push_back(fmt::format("{}: nothing in the executable matches: found in {}", spec.text,
                                     fmt::join(where, ", ")));
    const std::string_view means = as_written ? "also means" : "means";
    if (!names.empty() && names.size() <= kMostNames)
      remarks_.push_back(fmt::format("{} {} {}", spec.text, means, fmt::join(names, ", ")));
    if (names.size() > kMostNames)
      remarks_.push_back(
          fmt::format("{} {} {} functions, such as {}", spec.text, means, names.size(), *names.begin()));
  }
}

// plan_.targets, from what the user asked for.
Status TracedProcess::resolve(const PlanScope& scope, const probe::ResolveContext& where) {
  const Options& options = context_.options;
  const RequestMask present = present_requests(scope, where);
  TRY(FoundTargets found, find_targets(options, plan_.modules, {where, context_.debug},
                                       scope.part_will_do || may_be_empty(scope), present));
  plan_.targets = std::move(found.targets);
  plan_.refused = std::move(found.refused);
  notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
  if (scope.only)
    std::erase_if(plan_.targets, [&](const Target& t) { return !scope.only(plan_.modules[t.module]); });
  tell_where_found();
  for (const probe::Module& module : plan_.modules) module.release_pages();
  if (plan_.targets.empty() && !plan_.refused.empty()) return plan_.all_refused();
  if (plan_.targets.empty() && !may_be_empty(scope)) return Error(ErrorKind::kNotFound, "nothing matches");
  if (plan_.targets.empty() && !options.probes.empty())
    remarks_.push_back("nothing matches yet: waiting for libraries that come later");
  for (size_t i = 0; i < present.size(); ++i)
    if (!present[i])
      remarks_.push_back(
          fmt::format("{}: waiting for a library that is not loaded yet", options.probes[i].spec.text));
  return check_number(plan_.targets.size());
}

Status TracedProcess::check_number(size_t all) const {
  const Options& options = context_.options;
  if (all <= options.max_probes) return check_histograms(all);
  const bool functions_only = std::all_of(
      options.probes.begin(), options.probes.end(),
      [](const ProbeRequest& r) { return r.kind == ProbeKind::kFunction || r.kind == ProbeKind::kReturn; });
  return Error(ErrorKind::kUsage,
               fmt::format("{} {} match, more than {}: say --max-probes {} if you mean it", all,
                           functions_only ? "functions" : "instructions", options.max_probes, all));
}

Status TracedProcess::make_plan(const PlanScope& scope) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY(probe::LoadedModules loaded, probe::load_modules(process_, memory_, maps, context_.files));
  plan_.modules = std::move(loaded.modules);
  context_.debug.share_root(proc::shares_root(process_.pid()));
  modules_complete_ = loaded.unreadable.empty();
  for (const probe::UnreadableModule& m : loaded.unreadable) notes_.push_back(m.text());
  find_lives(scope);
  TRY_OK(resolve(scope, {.memory = &memory_, .unreadable = loaded.unreadable, .maps = maps}));
  for (const probe::Module& m : plan_.modules)
    notes_.insert(notes_.end(), m.notes().begin(), m.notes().end());
  plan_.expand(context_.options);
  TRY_OK(plan_.find_data(context_.options, context_.debug));
  remarks_.insert(remarks_.end(), plan_.remarks.begin(), plan_.remarks.end());
  plan_.share_calls(context_.options);
  for (std::string& note : context_.debug.notes()) notes_.push_back(std::move(note));
  if (asks_for_stacks()) stacks_.emplace(plan_.modules, find_vdso(memory_, maps));
  if (may_probe_later(scope, context_.options)) watch_libraries(maps);
  if (context_.options.backend == Backend::kUprobe) {
    plan_.plan_uprobes();
  } else {
    TRY(probe::PlanOptions how, plan_options());
    if (context_.options.allow_trap) how.traps = x86::TrapUse::kLast;
    if (context_.options.backend == Backend::kTrap) how.traps = x86::TrapUse::kAlways;
    plan_.plan_pads(context_.options, how, maps);
  }
  if (context_.options.probes.empty()) return {};  // pads of blip's own alone
  if (plan_.targets.empty())
    return late_requests_.empty() ? Error(ErrorKind::kNotFound, "nothing matches") : Status();
  return plan_.nothing_can_be_armed() ? plan_.all_refused() : Status();
}

// Where threads and processes end. Those that begin are announced by what stands in for clone.
void TracedProcess::find_lives(const PlanScope& scope) {
  if (!context_.lives || context_.options.backend == Backend::kUprobe) return;
  for (probe::LifeSite& site : probe::find_life_sites(plan_.modules))
    if (!scope.only || scope.only(plan_.modules[site.module])) plan_.lives.push_back(std::move(site));
  plan_.life_class = context_.lives->first_class;
}

std::optional<jit::Births> TracedProcess::births() const {
  if (!context_.lives) return {};
  const uint32_t first = context_.lives->first_class;
  return jit::Births{.thread_class = first + LifeRecord::kThread,
                     .process_class = first + LifeRecord::kProcess};
}

Result<probe::PlanOptions> TracedProcess::plan_options() const {
  return plan_options_of(process_.pid(), plan_.modules, context_.options.moved_faults);
}

size_t TracedProcess::most_classes() const {
  if (context_.options.mode != Mode::kCount) return abi::kMaxClasses - abi::kFirstClass;
  const auto cpus = proc::possible_cpus();
  const uint64_t bytes_each = abi::kCounterKinds * (cpus.value_or(1) + uint64_t{1}) * sizeof(uint64_t);
  return std::min<uint64_t>(abi::kMaxCounted, (abi::kMaxCounterBytes >> 1) / bytes_each) - abi::kFirstClass;
}

// Programs without restartable sequences (musl, Go) have nothing else. Before a program has them nobody reads
// it either: then it has the memory that all the rings would have.
uint64_t TracedProcess::shared_ring_size() const {
  const uint64_t one = uint64_t{context_.options.subbuf_count} * context_.subbuf_size;
  if (!context_.rings_unused) return std::max(kLeastSharedRing, one);
  const auto cpus = proc::online_cpus();
  const uint64_t all = one * (cpus ? cpus->size() : 1);
  return std::max({kLeastSharedRing, one, std::min(all, kMostEarlyRing)});
}

abi::Geometry TracedProcess::geometry(uint32_t largest_record) const {
  const Options& options = context_.options;
  abi::Geometry g{.class_count = static_cast<uint32_t>(context_.classes.classes().size()) + abi::kFirstClass +
                                 spare_classes()};
  g.latencies = options.latencies;
  g.ranges = reads_memory();
  if (options.mode == Mode::kCount) return g;
  g.subbuf_count = options.subbuf_count;
  g.subbuf_size = context_.rings_unused ? kUnusedSubbuf : context_.subbuf_size;
  if (stacks_) {
    g.stack_slots = UnwindTables::kStacks.slots;
    g.stack_frames = UnwindTables::kStacks.frames;
    g.stack_depth = UnwindTables::kStacks.depth;
  }
  g.slot_size = std::max(kMinSlotSize, std::bit_ceil(largest_record + 16));
  g.slot_count = static_cast<uint32_t>(std::bit_floor(shared_ring_size()) / g.slot_size);
  return g;
}

Status TracedProcess::arm() {
  TRY(const probe::Leftovers leftovers, probe::clean_leftovers(process_, memory_));
  if (const auto text = leftovers.text()) notes_.push_back(*text);
  kept_ = leftovers.kept;
  TRY(std::vector<jit::Program> programs, context_.classes.add(plan_.places(context_.options)));
  if (const size_t most = most_classes(); context_.classes.classes().size() > most)
    return Error(ErrorKind::kUsage, fmt::format("too many probes: at most {}", most));
  TRY_OK(check_histograms(context_.classes.classes().size()));
  measure_clock();
  uint32_t largest = plan_.set_programs(std::exchange(programs, {}));
  tell_rate(plan_.probes, context_.latency_rate);
  largest = std::max(largest, context_.classes.largest_record(late_requests_));
  schema_ = {.start = context_.clock.sample(),
             .monotonic = context_.clock.clocks().counter_is_monotonic,
             .vpid = process_.ns_pid(),
             .classes = context_.classes.classes()};
  name_places(plan_);
  TRY(source_, make_source(largest));
  for (const probe::Module& module : plan_.modules) module.release_pages();
  if (stacks_ && context_.options.mode == Mode::kTrace) (void)frame_names();  // of what is there now
  hold_loader();
  feed_ranges();
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
  context_.latency_rate = measured_latency_rate(context_.clock);
}

void TracedProcess::tell_output(const ctf::TraceInfo& info, const ctf::Uuid& uuid, const std::string& dir,
                                const std::string& prefix) {
  schema_.info = info;
  schema_.uuid = uuid;
  schema_.dir = dir;
  schema_.prefix = prefix;
  if (!source_->describe(schema_)) remarks_.push_back(kNoRoomToDescribe);
}

Result<std::unique_ptr<EventSource>> TracedProcess::make_source(uint32_t largest) {
  const DrainInput input{.pid = process_.pid(),
                         .vpid = process_.ns_pid(),
                         .classes = context_.classes.classes(),
                         .clock = context_.clock,
                         .limit = context_.limit,
                         .latency_rate = context_.latency_rate,
                         .lives = context_.lives};
  if (context_.options.backend == Backend::kUprobe) {
    std::vector<UprobeSource::Probe> probes;
    const std::vector<probe::Probe> planned = plan_.hand_over();
    for (size_t i = 0; i < planned.size(); ++i)
      probes.push_back({plan_.modules[planned[i].module].to_target(plan_.points[i].point.addr),
                        planned[i].program, planned[i].planned.refused()});
    TRY(std::unique_ptr<EventSource> source,
        UprobeSource::arm(process_, memory_, std::move(probes), geometry(largest).ring_size(), input));
    return source;
  }
  abi::Geometry shape = geometry(largest);
  const std::string schema = shape.subbuf_size == 0 ? "" : to_text(schema_);
  if (!schema.empty())
    shape.schema_size =
        static_cast<uint32_t>(schema.size()) + kSchemaRoom + kSchemaPerClass * spare_classes();
  std::vector<probe::Probe> probes = plan_.hand_over();
  if (plan_.loader) probes.push_back(plan_.loader_probe);
  probes.insert(probes.end(), plan_.life_probes.begin(), plan_.life_probes.end());
  TRY(std::unique_ptr<PadSource> source,
      PadSource::arm(
          {.process = process_,
           .memory = memory_,
           .modules = plan_.modules,
           .sites = std::move(plan_.sites),
           .probes = std::move(probes),
           .options = {.geometry = shape,
                       .modules_complete = modules_complete_,
                       .follow_fork = context_.options.follow_fork,
                       .monotonic_clock = context_.clock.clocks().counter_is_monotonic,
                       .spare_probes = spare_probes(),
                       .live_classes = static_cast<uint32_t>(schema_.classes.size()) + abi::kFirstClass,
                       .spares_ask_kernel =
                           asks_for_threads() || std::any_of(context_.options.probes.begin(),
                                                             context_.options.probes.end(), asks_for_data),
                       .unwind = {.size = stacks_ ? stacks_->room() : 0,
                                  .fill = [&](const auto& memory) { return stacks_->fill(memory); }},
                       .returns = asks_for_returns(),
                       .keeps_values = std::any_of(context_.options.probes.begin(),
                                                   context_.options.probes.end(), asks_for_entry),
                       .births = births(),
                       .kept = kept_,
                       .schema = schema,
                       .max_pause = context_.options.max_pause}},
          input));
  pads_ = source.get();
  return source;
}

bool TracedProcess::asks_for_threads() const {
  if (context_.options.mode == Mode::kCount) return false;
  if (stores_tid(context_.options)) return true;
  const auto& probes = context_.options.probes;
  return std::any_of(probes.begin(), probes.end(), [](const ProbeRequest& r) {
    return std::any_of(r.contexts.begin(), r.contexts.end(),
                       [](const Context& c) { return c.row->tells_thread(); });
  });
}

bool TracedProcess::asks_for_returns() const {
  const auto& probes = context_.options.probes;
  return std::any_of(probes.begin(), probes.end(),
                     [](const ProbeRequest& r) { return r.kind == ProbeKind::kReturn; });
}

bool TracedProcess::asks_for_stacks() const {
  const auto& probes = context_.options.probes;
  return context_.options.mode != Mode::kCount && context_.options.backend != Backend::kUprobe &&
         std::any_of(probes.begin(), probes.end(), asks_for_stack);
}

void TracedProcess::report(Armed& armed) const {
  const probe::ArmReport& report = source_->report();
  const std::vector<std::string> refusals = plan_.refusals_after(report.refused);
  armed.refused.insert(armed.refused.end(), plan_.refused.begin(), plan_.refused.end());
  tell_targets(plan_, refusals, context_.options, armed);
  std::set<size_t> trapped;
  for (size_t i = 0; i < plan_.handed_over.size(); ++i) {
    const size_t target = plan_.points[i].target;
    if (plan_.handed_over[i].is_trap && refusals[target].empty()) trapped.insert(target);
  }
  armed.traps += trapped.size();
  armed.remarks.insert(armed.remarks.end(), remarks_.begin(), remarks_.end());
  if (const size_t moved = plan_.moved_faults(refusals)) {
    const bool is_asked_for = context_.options.moved_faults == MovedFaults::kAccept;
    (is_asked_for ? armed.remarks : armed.notes).push_back(moved_faults_text(moved));
  }
  armed.notes.insert(armed.notes.end(), notes_.begin(), notes_.end());
  armed.notes.insert(armed.notes.end(), report.notes.begin(), report.notes.end());
  if (ranges_) armed.notes.push_back(how_memory_is_read());
  armed.paused_ms = std::max(armed.paused_ms, to_ms(report.paused));
}

std::string TracedProcess::place_of(TargetAddr address) const {
  std::vector<const probe::Module*> modules;
  for (const probe::Module& module : plan_.modules) modules.push_back(&module);
  for (const ProbePlan& plan : late_plans_)
    for (const probe::Module& module : plan.modules) modules.push_back(&module);
  for (const probe::Module* module : modules) {
    const FileAddr in_file = module->to_file(address);
    if (!module->file().is_code(in_file)) continue;
    const auto function = probe::function_around(*module, in_file);
    if (function && *function) return probe::place_name(*module, **function, in_file);
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
  loader_.reset();
  ranges_.reset();
  if (!has_left()) {
    auto removed = source_->disarm();
    kept = removed && removed->kept;
    if (removed || !has_left()) tell_removal(process_.pid(), removed, summary);
  }
  source_->disarm_children(summary);
  return !kept;
}

// Class ids. One that was armed once counts, whatever came of its library.
std::vector<uint32_t> TracedProcess::armed_classes() const {
  std::vector<uint32_t> armed;
  const auto add = [&](const ProbePlan& plan) {
    const std::vector<std::string> refusals = plan.refusals_after(source_->report().refused);
    for (size_t i = 0; i < plan.handed_over.size(); ++i) {
      const uint32_t id = plan.handed_over[i].class_id;
      const bool is_armed = refusals[plan.points[i].target].empty();
      if (is_armed || (!late_plans_.empty() && source_->class_hits(id) != 0)) armed.push_back(id);
    }
  };
  add(plan_);
  for (const ProbePlan& plan : late_plans_) add(plan);
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

// That the calls of a class are remembered for: another one's where several probes ask for the same returns.
uint32_t TracedProcess::frame_class(uint32_t id) const {
  const auto find = [&](const ProbePlan& plan) {
    const auto found = plan.frame_classes.find(id);
    return found == plan.frame_classes.end() ? id : found->second;
  };
  uint32_t frame = find(plan_);
  for (const ProbePlan& plan : late_plans_)
    if (frame == id) frame = find(plan);
  return frame;
}

// A call that could not be remembered is lost to all who share it, and counted for the first.
uint64_t TracedProcess::lost_with_others() const {
  uint64_t lost = 0;
  const auto add = [&](const ProbePlan& plan) {
    for (const auto& [id, frame] : plan.frame_classes) lost += source_->unpaired_calls(frame);
  };
  add(plan_);
  for (const ProbePlan& plan : late_plans_) add(plan);
  return lost;
}

void TracedProcess::add_calls(std::vector<std::optional<CallTotals>>& calls) const {
  if (!asks_for_returns()) return;
  calls.resize(context_.classes.classes().size());
  for (uint32_t id : armed_classes()) {
    const size_t index = id - abi::kFirstClass;
    if (context_.options.probes[context_.classes.request_of(index)].kind != ProbeKind::kReturn) continue;
    if (!calls[index]) calls[index].emplace();
    *calls[index] += source_->class_calls(id, frame_class(id));
  }
}

}  // namespace blip::session
