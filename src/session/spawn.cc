// SPDX-License-Identifier: MIT
#include "session/spawn.h"

#include <fmt/core.h>

#include <utility>

#include "probe/code/loader.h"

// Two phases, because libraries are not there at exec and rseq is not registered:
//
//   exec        probes of what runs before the milestone are armed; they use the shared ring
//   milestone   these are removed, everything is planned anew with all modules, armed, and the command let go
//
// Both are traced processes of one trace: the classes are the same, events and counts add up.

namespace blip::session {

namespace {

constexpr int kDisarmTries = 8;
constexpr std::chrono::milliseconds kFirstMoment{2};

Result<std::vector<probe::Module>> modules_now(const proc::Process& process, const proc::Memory& memory) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  TRY(probe::LoadedModules loaded, probe::load_modules(process, memory, maps));
  return std::move(loaded.modules);
}

}  // namespace

Result<Spawn> Spawn::start(const std::vector<std::string>& words, TraceContext& context) {
  TRY(proc::Command command, proc::Command::start(words));
  Spawn spawn(std::move(command));
  spawn.make_remarks();
  Status prepared = spawn.prepare(context);
  const auto& interpreter = spawn.command.file().interpreter_of_script;
  if (!prepared && interpreter)
    return prepared.error().with_context(
        fmt::format("{} is a script, traced is {}", spawn.command.file().path, *interpreter));
  if (!prepared) return prepared.error();
  return spawn;
}

void Spawn::make_remarks() {
  const proc::CommandFile& file = command.file();
  if (file.interpreter_of_script)
    remarks.push_back(
        fmt::format("{} is a script: its interpreter {} is traced", file.path, *file.interpreter_of_script));
  if (file.loses_privileges)
    remarks.push_back(fmt::format(
        "{} is set-uid or has capabilities: traced, it runs without them (run blip as root)", file.path));
}

Status Spawn::prepare(TraceContext& context) {
  if (context.options.probes.empty() && !context.lives) return {};  // it is only watched
  TRY_OK(run_to_milestone(context));
  if (ended) {
    if (!early) remarks.push_back(fmt::format("{} ended before it could be traced", command.file().path));
    return {};
  }
  TRY(proc::Process process, proc::Process::open(command.pid()));
  const bool later = context.options.follow_exec;
  auto plan = TracedProcess::plan(std::move(process), context, {.part_will_do = later});
  if (!plan && later && plan.error().kind() == ErrorKind::kNotFound) return {};  // another program may come
  if (!plan && context.options.probes.empty()) {
    notes.push_back("what is too short to be seen will be missed: " + plan.error().message());
    return {};
  }
  if (!plan) return plan.error();
  planned = *std::move(plan);
  return {};
}

Status Spawn::run_to_milestone(TraceContext& context) {
  TRY(const proc::Process process, proc::Process::open(command.pid()));
  TRY(const proc::Memory memory, proc::Memory::open(command.pid()));
  TRY(const std::vector<probe::Module> modules, modules_now(process, memory));
  auto milestone = probe::Milestone::find(modules);
  if (!milestone) return {};
  // Of a static program everything is known now, so that what does not match is an error.
  const bool is_static = milestone->kind() == probe::Milestone::Kind::kMain;
  if (is_static || !context.options.probes.empty())
    TRY_OK(arm_early(context, {.only = [&](const probe::Module& m) { return milestone->runs_before(m); },
                               .part_will_do = !is_static}));
  TRY(const auto end, command.run_to(milestone->addr(), [&] { return milestone->reached(memory); }));
  if (end == proc::Command::RunEnd::kEnded) ended = End::kTargetExit;
  if (end == proc::Command::RunEnd::kExec) ended = End::kTargetExec;
  if (milestone->kind() == probe::Milestone::Kind::kEntry)
    notes.push_back("the program's loader is unknown: what libraries do before its entry is not traced");
  return disarm_early();
}

Status Spawn::arm_early(TraceContext& context, const PlanScope& scope) {
  TRY(proc::Process process, proc::Process::open(command.pid()));
  auto plan = TracedProcess::plan(std::move(process), context, scope);
  // Refused here may be possible at the milestone: which function an IFUNC means is not decided yet.
  if (!plan && (scope.part_will_do || plan.error().kind() == ErrorKind::kUnsupported)) return {};
  if (!plan) return plan.error();
  // No thread has rseq yet: the rings of the CPUs stay empty.
  context.rings_unused = true;
  const Status armed = (*plan)->arm();
  context.rings_unused = false;
  TRY_OK(armed);
  early = *std::move(plan);
  return {};
}

// A thread that the program has made is held wherever it was, maybe in a probe, and cannot leave it by
// itself.
Status Spawn::disarm_early() {
  if (!early) return {};
  auto moment = kFirstMoment;
  for (int i = 1;; ++i, moment *= 2) {
    if (!ended) TRY_OK(command.let_others_run(moment));
    Summary summary;
    const bool clean = early->disarm(summary);
    if (!clean && i < kDisarmTries) continue;
    if (!clean) return Error(ErrorKind::kBusy, summary.warnings.front());
    notes.insert(notes.end(), summary.warnings.begin(), summary.warnings.end());
    return {};
  }
}

}  // namespace blip::session
