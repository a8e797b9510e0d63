// SPDX-License-Identifier: MIT
#include "session/process/traced_process.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/milliseconds.h"
#include "base/progress.h"
#include "probe/inject/leftovers.h"
#include "session/plan/purpose.h"
#include "session/plan/requests.h"
#include "session/process/tell_targets.h"

namespace blip::session {

namespace {

constexpr uint32_t kSchemaRoom = 16 << 10;  // for where the trace goes, and a long command line
constexpr uint32_t kSchemaPerClass = 256;

std::optional<jit::Births> births(const LifeRecords* lives) {
  if (!lives) return {};
  return jit::Births{.thread_class = uint32_t{lives->first_class} + LifeRecord::kThread,
                     .process_class = uint32_t{lives->first_class} + LifeRecord::kProcess};
}

}  // namespace

Result<std::unique_ptr<TracedProcess>> TracedProcess::plan(proc::Process process, TraceContext& context,
                                                           const PlanScope& scope) {
  const progress::Step step(fmt::format("reading the modules of process {}", process.pid()));
  TRY(std::unique_ptr<TargetProcess> target, TargetProcess::open(std::move(process)));
  TRY(ProcessPlan plan, plan_process(*target, context, scope));
  return std::unique_ptr<TracedProcess>(new TracedProcess(std::move(target), std::move(plan), context));
}

TracedProcess::TracedProcess(std::unique_ptr<TargetProcess> target, ProcessPlan plan, TraceContext& context)
    : context_(context),
      target_(std::move(target)),
      plan_(std::move(plan)),
      names_(writes_files(context.options), target_->process().ns_pid()) {
  if (walks_stacks(context.options)) {
    stacks_.emplace(plan_.probes.modules, find_vdso(target_->memory(), plan_.maps));
    for (const probe::Module& module : plan_.probes.modules) module.release_pages();  // all of it was read
  }
  if (plan_.watches_libraries)
    libraries_.emplace(LateProbes::Trace{*target_, context_, plan_.late, plans_, names_, schema_}, plan_,
                       stacks_ ? &*stacks_ : nullptr);
  plan_.maps = {};
}

std::vector<probe::Module> TracedProcess::modules_now() const {
  return libraries_ ? libraries_->modules() : plan_.probes.modules;
}

FrameNames& TracedProcess::frame_names() {
  if (!names_.frames()) names_.name_frames(modules_now(), stacks_ ? stacks_->vdso() : std::nullopt);
  return *names_.frames();
}

void TracedProcess::tell_modules(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream) {
  names_.write_to(statedump, std::move(stream), schema_.start.ns, plan_.probes.modules);
}

void TracedProcess::tell_child(int32_t vpid) { names_.tell_child(vpid, modules_now()); }

// Gives the probes their actions. Returns the size of the largest record that may come.
Result<uint32_t> TracedProcess::add_classes() {
  const Options& options = context_.options;
  TRY(std::vector<jit::Action> actions, context_.classes.add(plan_.probes.places(options)));
  const size_t classes = context_.classes.classes().size();
  if (const size_t most = most_classes(options); classes > most)
    return Error(ErrorKind::kUsage, fmt::format("too many probes: at most {}", most));
  TRY_OK(check_histograms(options, classes));
  measure_clock();
  const uint32_t largest = plan_.probes.set_actions(std::exchange(actions, {}));
  tell_rate(plan_.probes.probes, context_.latency_rate);
  return std::max(largest, context_.classes.largest_record(plan_.late));
}

Status TracedProcess::arm() {
  const Options& options = context_.options;
  TRY(const probe::Leftovers leftovers, probe::clean_leftovers(target_->process(), target_->memory()));
  if (const auto text = leftovers.text()) plan_.notes.push_back(*text);
  kept_ = leftovers.kept;
  TRY(const uint32_t largest, add_classes());
  const std::vector<ctf::EventClass>& classes = context_.classes.classes();
  schema_ = {.start = context_.clock.sample(),
             .monotonic = context_.clock.clocks().counter_is_monotonic,
             .vpid = process().ns_pid(),
             .classes = classes};
  if (makes_events(options)) names_.add_places(plan_.probes.place_names(classes));
  const SpareRoom spare = spare_room(options, plan_.late, plan_.probes.targets.size(), classes.size());
  const abi::Geometry geometry = region_geometry(
      options, {.classes = static_cast<uint32_t>(classes.size()) + abi::kFirstClass + spare.classes,
                .largest_record = largest,
                .subbuf_size = context_.subbuf_size,
                .rings_unused = context_.rings_unused,
                .reads_memory = plan_.reads_memory(options),
                .walks_stacks = stacks_.has_value()});
  const DrainInput input{.pid = process().pid(),
                         .vpid = process().ns_pid(),
                         .classes = classes,
                         .clock = context_.clock,
                         .limit = context_.limit,
                         .latency_rate = context_.latency_rate,
                         .lives = context_.lives,
                         .hands_on_records = options.handlers != nullptr};
  TRY_OK(options.backend == Backend::kUprobe ? arm_uprobes(geometry.ring_size(), input)
                                             : arm_pads(geometry, spare, input));
  for (const probe::Module& module : plan_.probes.modules) module.release_pages();
  if ((stacks_ || options.handlers) && shows_events(options)) (void)frame_names();  // of what is there now
  hold_loader();
  if (target_->pads() && plan_.reads_memory(options)) reads_.emplace(*target_, plan_.probes.modules);
  return {};
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
  if (!target_->source().describe(schema_)) plan_.remarks.push_back(kNoRoomToDescribe);
}

Status TracedProcess::arm_uprobes(uint64_t ring_size, const DrainInput& input) {
  ProbePlan& plan = plan_.probes;
  std::vector<UprobeSource::Probe> probes;
  const std::vector<probe::Probe> planned = plan.hand_over();
  for (size_t i = 0; i < planned.size(); ++i)
    probes.push_back({plan.modules[planned[i].module].to_target(plan.points[i].point.addr), planned[i].action,
                      planned[i].planned.refused()});
  return target_->arm_uprobes(std::move(probes), ring_size, input);
}

Status TracedProcess::arm_pads(abi::Geometry geometry, const SpareRoom& spare, const DrainInput& input) {
  const Options& options = context_.options;
  ProbePlan& plan = plan_.probes;
  const std::string schema = geometry.subbuf_size == 0 ? "" : to_text(schema_);
  if (!schema.empty())
    geometry.schema_size =
        static_cast<uint32_t>(schema.size()) + kSchemaRoom + kSchemaPerClass * spare.classes;
  std::vector<probe::Probe> probes = plan.hand_over();
  if (plan.loader) probes.push_back(plan.loader_probe);
  probes.insert(probes.end(), plan.life_probes.begin(), plan.life_probes.end());
  return target_->arm_pads(
      {.modules = plan.modules,
       .sites = std::move(plan.sites),
       .probes = std::move(probes),
       .options = {.geometry = geometry,
                   .modules_complete = plan_.modules_complete,
                   .follow_fork = options.follow_fork,
                   .monotonic_clock = context_.clock.clocks().counter_is_monotonic,
                   .spare_probes = spare.probes,
                   .live_classes = static_cast<uint32_t>(schema_.classes.size()) + abi::kFirstClass,
                   .spares_ask_kernel = asks_for_threads(options) || any_asks(options, asks_for_data),
                   .unwind = {.size = stacks_ ? stacks_->room() : 0,
                              .fill = [this](const auto& memory) { return stacks_->fill(memory); }},
                   .returns = any_asks(options, asks_for_returns),
                   .keeps_values = any_asks(options, asks_for_entry),
                   .marks = any_asks(options, asks_for_marks),
                   .births = births(context_.lives),
                   .kept = kept_,
                   .schema = schema,
                   .max_pause = options.max_pause,
                   .stop = &context_.stop}},
      input);
}

// From here on what is loaded waits to be probed.
void TracedProcess::hold_loader() {
  if (!libraries_) return;
  const ProbePlan& plan = plan_.probes;
  const auto& refused = target_->source().report().refused;
  const bool has_hook = plan.loader && !plan.loader_probe.planned.refused() &&
                        std::none_of(refused.begin(), refused.end(),
                                     [&](const auto& r) { return r.first == plan.handed_over.size(); });
  if (!libraries_->hold_loader(has_hook))
    plan_.notes.push_back(
        "the loader cannot be watched: libraries that come later are probed some 20 ms after they came");
}

void TracedProcess::look_at_libraries(const LibraryHooks& hooks) {
  if (libraries_) libraries_->look(hooks);
}

std::optional<std::string> TracedProcess::refresh_ranges() {
  return reads_ && !target_->left() ? reads_->refresh() : std::nullopt;
}

size_t TracedProcess::count_traps(const std::vector<std::string>& refusals) const {
  const ProbePlan& plan = plan_.probes;
  std::set<size_t> trapped;
  for (size_t i = 0; i < plan.handed_over.size(); ++i) {
    const size_t target = plan.points[i].target;
    if (plan.handed_over[i].is_trap && refusals[target].empty()) trapped.insert(target);
  }
  return trapped.size();
}

void TracedProcess::report(Armed& armed) const {
  const ProbePlan& plan = plan_.probes;
  const probe::ArmReport& report = std::as_const(*target_).source().report();
  const std::vector<std::string> refusals = plan.refusals_after(report.refused);
  armed.refused.insert(armed.refused.end(), plan.refused.begin(), plan.refused.end());
  tell_targets(plan, refusals, context_.options, armed);
  armed.traps += count_traps(refusals);
  armed.remarks.insert(armed.remarks.end(), plan_.remarks.begin(), plan_.remarks.end());
  if (const size_t moved = plan.moved_faults(refusals)) {
    const bool is_asked_for = context_.options.moved_faults == MovedFaults::kAccept;
    (is_asked_for ? armed.remarks : armed.notes).push_back(moved_faults_text(moved));
  }
  armed.notes.insert(armed.notes.end(), plan_.notes.begin(), plan_.notes.end());
  armed.notes.insert(armed.notes.end(), report.notes.begin(), report.notes.end());
  if (reads_) armed.notes.push_back(reads_->text());
  armed.paused_ms = std::max(armed.paused_ms, to_ms(report.paused));
}

bool TracedProcess::disarm(Summary& summary) {
  if (libraries_) libraries_->let_loader_go();
  reads_.reset();
  return target_->disarm(summary);
}

}  // namespace blip::session
