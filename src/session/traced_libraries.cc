// SPDX-License-Identifier: MIT
// Libraries that a traced process loads and unloads. See docs/design/lifecycle.md.
#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/milliseconds.h"
#include "elf/dynamic.h"
#include "probe/code/resolve.h"
#include "proc/files/cpu.h"
#include "proc/files/status.h"
#include "session/pad_source.h"
#include "session/traced_process.h"

namespace blip::session {

namespace {

// Room that is set aside at the start, by what may come.
constexpr size_t kOfOneName = 1024;    // functions, copies, lines that one name stands for
constexpr size_t kMostLayouts = 4096;  // of events that share a class where they look the same
constexpr size_t kLeastSpareProbes = 2048, kMostSpareProbes = 1 << 20;
constexpr size_t kPointsPerCall = 6;  // the entry and the exits of a function, more than most have
// A loader that was let go comes back soon: it tells before it maps what a library needs, and again after it.
// It must not find blip at work on the tables of a large one.
constexpr std::chrono::milliseconds kLoaderIsDone{20};
// In bytes; with a --max-probes of the user's own there may be more.
constexpr uint64_t kUnaskedHistograms = 256 << 20, kHistogramMargin = 16 << 20;

// The loader will write into its code when it relocates it.
bool has_text_relocations(const probe::Module& module) {
  const auto flags = elf::dynamic_value(module.file(), DT_FLAGS);
  return elf::dynamic_value(module.file(), DT_TEXTREL) || (flags && (*flags & DF_TEXTREL) != 0);
}

}  // namespace

// It may be there without a symbol: inlined.
bool TracedProcess::is_in_executable(size_t request) const {
  return std::any_of(plan_.targets.begin(), plan_.targets.end(), [&](const Target& t) {
    return t.request == request && plan_.modules[t.module].is_executable();
  });
}

// As SPECs go: a name or pattern without MODULE means the executable, if that has what matches.
void TracedProcess::find_late_requests() {
  const auto& probes = context_.options.probes;
  late_requests_.assign(probes.size(), false);
  for (size_t i = 0; i < probes.size(); ++i) {
    const elf::Spec& spec = probes[i].spec;
    if (spec.kind == elf::SpecKind::kGlob && !spec.module) {
      late_requests_[i] = !is_in_executable(i);
    } else if (probes[i].kind == ProbeKind::kLine || (spec.module && spec.kind != elf::SpecKind::kAddress)) {
      late_requests_[i] = true;
    } else if (spec.kind == elf::SpecKind::kName || spec.kind == elf::SpecKind::kSymbolOffset) {
      elf::Spec name = spec;
      name.kind = elf::SpecKind::kName;
      late_requests_[i] =
          !is_in_executable(i) &&
          !probe::resolve_functions({&name, 1}, std::span(plan_.modules).first(1), {.hints = false});
    }
  }
  if (std::find(late_requests_.begin(), late_requests_.end(), true) == late_requests_.end())
    late_requests_.clear();
}

// How many may come with libraries: what a name stands for is not many, for patterns the user has set the
// limit.
size_t TracedProcess::late_targets() const {
  const Options& options = context_.options;
  size_t most = 0;
  for (size_t i = 0; i < late_requests_.size(); ++i) {
    const ProbeRequest& request = options.probes[i];
    const bool is_few =
        request.spec.kind != elf::SpecKind::kGlob && request.kind != ProbeKind::kEveryInstruction;
    if (late_requests_[i]) most += is_few ? kOfOneName : options.max_probes;
  }
  return std::min<size_t>(most,
                          options.max_probes - std::min<size_t>(options.max_probes, plan_.targets.size()));
}

// Their memory is used only when they are, but all of it is mapped.
size_t TracedProcess::late_histograms() const {
  const auto cpus = proc::possible_cpus();
  const uint64_t each =
      (sizeof(abi::LatencyTotals) + abi::kLatencyBuckets * 8) * (cpus.value_or(1) + uint64_t{1});
  const bool asked = context_.options.max_probes > Options().max_probes;
  const uint64_t used = each * context_.classes.classes().size() + kHistogramMargin;
  const uint64_t left = abi::kMaxLatencyBytes - std::min(used, abi::kMaxLatencyBytes);
  return (asked ? left : std::min(left, kUnaskedHistograms)) / each;
}

// Events of many functions share a class, unless they show different data; counts never do.
uint32_t TracedProcess::spare_classes() const {
  if (late_requests_.empty()) return 0;
  const Options& options = context_.options;
  const size_t used = context_.classes.classes().size();
  size_t spare = late_targets();
  if (options.mode != Mode::kCount) {
    const bool shows = std::any_of(options.probes.begin(), options.probes.end(), shows_data);
    spare = std::min(spare, kMaxOwnClasses + (shows ? kMostLayouts : options.probes.size()));
  }
  if (options.latencies) spare = std::min(spare, late_histograms());
  return static_cast<uint32_t>(std::min(spare, most_classes() - std::min(used, most_classes())));
}

uint32_t TracedProcess::spare_probes() const {
  if (late_requests_.empty()) return 0;
  const size_t likely = late_targets() * (asks_for_returns() ? kPointsPerCall : 1);
  return static_cast<uint32_t>(std::clamp(likely, kLeastSpareProbes, kMostSpareProbes));
}

void TracedProcess::watch_libraries(const std::vector<proc::Map>& maps) {
  find_late_requests();
  if (late_requests_.empty() && !stacks_) return;
  libraries_.emplace(process_, memory_, context_.files, plan_.modules, maps);
  planned_ = plan_.modules;
  if (process_.seccomp_mode() == 0) plan_.loader = probe::find_loader_hook(plan_.modules);
}

// From here on what is loaded waits to be probed.
void TracedProcess::hold_loader() {
  if (!libraries_) return;
  const auto& refused = source_->report().refused;
  const bool armed = plan_.loader && !plan_.loader_probe.planned.refused() &&
                     std::none_of(refused.begin(), refused.end(),
                                  [&](const auto& r) { return r.first == plan_.handed_over.size(); });
  if (armed) {
    loader_.emplace(pads_->instrumentation().library_word(), process_.ns_pid());
  } else if (!late_requests_.empty()) {
    notes_.push_back(
        "the loader cannot be watched: libraries that come later are probed some 20 ms after they came");
  }
}

void TracedProcess::look_at_libraries(const LibraryHooks& hooks) {
  if (!libraries_ || has_left()) return;
  std::optional<uint32_t> change = loader_ ? loader_->change() : std::nullopt;
  if (loader_ && loader_->elsewhere() != std::exchange(elsewhere_, loader_->elsewhere()) && !told_elsewhere_)
    tell_elsewhere(hooks);
  if (loader_ && libraries_->is_due()) {
    if (is_filtered()) loader_.reset();
    if (loader_ && loader_->holds()) libraries_->put_off();
  }
  const auto now = std::chrono::steady_clock::now();
  if (change) loader_changed_ = now;
  if (change || libraries_->is_due()) {
    compare_libraries(change.has_value(), hooks);
    if (change && loader_) loader_->looked(*change);
  } else if (stacks_ && stacks_->is_incomplete() && now - loader_changed_ > kLoaderIsDone) {
    update_stacks(UnwindTables::kNextFile, hooks);
  }
}

// A filter that came after blip may not like what the pad at the loader's hook does.
bool TracedProcess::is_filtered() const {
  const auto status = proc::read_status(process_.pid(), process_.pid());
  return status && status->seccomp_mode != 0;
}

void TracedProcess::tell_elsewhere(const LibraryHooks& hooks) {
  told_elsewhere_ = true;
  hooks.notice(fmt::format("a child of process {} loads libraries by itself: they are not probed there",
                           process_.pid()));
}

void TracedProcess::compare_libraries(bool loader_waits, const LibraryHooks& hooks) {
  const uint64_t most = loader_waits ? UnwindTables::kWhileWaiting : UnwindTables::kAll;
  probe::Instrumentation& instrumentation = pads_->instrumentation();
  const auto news = libraries_->look(
      [&](const CodeFile& library) { return instrumentation.is_patched(library.module.extent()); });
  if (!news) return;  // it ends, or calls exec
  for (const CodeFile& library : news->went)
    instrumentation.forget(library.module.extent(), library.module.identity());
  std::vector<CodeFile> fresh;
  for (const CodeFile& library : news->came) {
    const bool known = std::any_of(planned_.begin(), planned_.end(), [&](const probe::Module& module) {
      return module.is_same(library.module);
    });
    if (known) {
      revive(library, hooks);
    } else if (!late_requests_.empty()) {
      fresh.push_back(library);
    }
  }
  if (!news->went.empty() || !news->came.empty()) {
    if (stacks_) update_stacks(most, hooks);
    tell_changes(*news);
  }
  if (fresh.empty()) return;
  arm_libraries(fresh, hooks);
  if (stacks_) update_stacks(most, hooks);  // there are more pads
}

// Threads go on with the old list until the new one is whole.
void TracedProcess::update_stacks(uint64_t most, const LibraryHooks& hooks) {
  const Status status = stacks_->update(libraries_->modules(), pads_->instrumentation().pads(), most);
  if (!status)
    hooks.notice(fmt::format("process {}: backtraces end where they get there: {}", process_.pid(),
                             status.error().message()));
}

void TracedProcess::revive(const CodeFile& library, const LibraryHooks& hooks) {
  const Options& options = context_.options;
  const Status status =
      pads_->instrumentation().revive(library.module.extent(), library.module.identity(), library.text);
  if (!status && status.error().kind() != ErrorKind::kGone &&
      (options.verbose || status.error().kind() != ErrorKind::kNotFound))
    hooks.notice(
        fmt::format("{}: is not probed again: {}", library.module.basename(), status.error().message()));
}

// All at once, because each time is a stop; one by one where there is no room for all.
void TracedProcess::arm_libraries(const std::vector<CodeFile>& came, const LibraryHooks& hooks) {
  std::vector<CodeFile> libraries;
  for (const CodeFile& library : came) {
    planned_.push_back(library.module);
    if (!has_text_relocations(library.module)) {
      libraries.push_back(library);
    } else if (context_.options.verbose) {
      hooks.notice(
          fmt::format("{}: not probed: its code is relocated (DT_TEXTREL)", library.module.basename()));
    }
  }
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

void TracedProcess::tell_unarmed(const CodeFile& library, const Error& error, const LibraryHooks& hooks) {
  if (error.kind() == ErrorKind::kGone) return;
  const bool was_unloaded = error.kind() == ErrorKind::kNotFound;
  if (was_unloaded)  // it may come again
    std::erase_if(planned_, [&](const probe::Module& m) { return m.is_same(library.module); });
  if (!was_unloaded || context_.options.verbose)
    hooks.notice(fmt::format("{}: not probed: {}", library.module.basename(), error.message()));
}

Status TracedProcess::arm_some(std::span<const CodeFile> libraries, const LibraryHooks& hooks) {
  const Options& options = context_.options;
  ProbePlan plan;
  std::vector<proc::Map> mapped;
  for (const CodeFile& library : libraries) {
    plan.modules.push_back(library.module);
    mapped.insert(mapped.end(), library.text.begin(), library.text.end());
  }
  const auto maps = proc::read_maps(process_.pid());
  if (!maps) return {};  // it ends
  const probe::ResolveContext where{.memory = &memory_, .maps = *maps, .hints = false};
  auto found = find_targets(options, plan.modules, {where, context_.debug}, true, late_requests_);
  if (!found || found->targets.empty()) return {};
  plan.targets = std::move(found->targets);
  plan.refused = std::move(found->refused);
  plan.expand(options);
  if (const Status status = plan.find_data(options, context_.debug); !status)
    return Error(ErrorKind::kUnsupported, status.error().message());
  plan.share_calls(options);
  const auto how = plan_options();
  if (!how) return {};
  plan.plan_pads(options, *how, *maps);
  late_plans_.push_back(std::move(plan));
  const Status status = arm_plan(late_plans_.back(), mapped, hooks);
  if (status) {
    tell_armed(late_plans_.back(), hooks);
  } else if (pads_->instrumentation().probe_count() == late_plans_.back().first) {
    late_plans_.pop_back();  // none of its probes has a number
  }
  return status;
}

// What tells of the new classes comes before their first event.
Status TracedProcess::arm_plan(ProbePlan& plan, std::span<const proc::Map> mapped,
                               const LibraryHooks& hooks) {
  plan.first = pads_->instrumentation().probe_count();
  size_t targets = plan_.targets.size();
  for (const ProbePlan& late : late_plans_) targets += late.targets.size();
  TRY_OK(check_number(targets));
  if (plan.nothing_can_be_armed()) {
    plan.planned.clear();
    plan.points.clear();
    return {};
  }
  probe::Instrumentation& instrumentation = pads_->instrumentation();
  TRY_OK(instrumentation.check_room(plan.points.size()));
  TRY(const std::vector<jit::Program> programs,
      context_.classes.add(plan.places(context_.options), instrumentation.geometry().class_count));
  plan.set_programs(programs, targets - plan.targets.size());
  tell_rate(plan.probes, context_.latency_rate);
  name_places(plan);
  const std::vector<ctf::EventClass>& all = context_.classes.classes();
  if (all.size() != schema_.classes.size()) {  // another process may have brought some
    schema_.classes = all;
    events().add_classes(all);
    TRY_OK(hooks.before_events());
    if (!source_->describe(schema_)) hooks.notice(kNoRoomToDescribe);
  }
  tell_places(ctf::HostClocks::monotonic_ns());
  return instrumentation.add(mapped, plan.modules, std::move(plan.sites), plan.hand_over());
}

void TracedProcess::tell_armed(const ProbePlan& plan, const LibraryHooks& hooks) const {
  const probe::ArmReport& report = source_->report();
  const std::vector<std::string> refusals = plan.refusals_after(report.refused);
  std::vector<size_t> armed(plan.modules.size());
  for (size_t i = 0; i < plan.targets.size(); ++i)
    if (refusals[i].empty()) ++armed[plan.targets[i].module];
  for (size_t m = 0; m < armed.size(); ++m)
    if (armed[m] != 0)
      hooks.notice(fmt::format("{}: armed {} probes (target paused {:.2f} ms)", plan.modules[m].basename(),
                               armed[m], to_ms(report.last_paused)));
  const size_t moved = plan.moved_faults(refusals);
  const bool is_asked_for = context_.options.moved_faults == MovedFaults::kAccept;
  if (moved != 0 && (is_asked_for || context_.options.verbose)) hooks.notice(moved_faults_text(moved));
  if (!context_.options.verbose) return;
  for (const Refusal& refusal : plan.refused)
    hooks.notice(fmt::format("refused {}: {}", refusal.probe, refusal.reason));
  for (size_t i = 0; i < refusals.size(); ++i)
    if (!refusals[i].empty())
      hooks.notice(fmt::format("refused {}: {}", name_of(plan.targets[i], plan.modules), refusals[i]));
}

}  // namespace blip::session
