// SPDX-License-Identifier: MIT
// Finding the processes, or starting the command, and planning what is armed in them.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "base/milliseconds.h"
#include "base/stop.h"
#include "proc/files/cpu.h"
#include "proc/files/find_processes.h"
#include "session/plan/environment.h"
#include "session/plan/requests.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

constexpr uint64_t kAllBuffers = uint64_t{1} << 30;  // of all processes, unless the user says otherwise
constexpr uint32_t kLeastSubbuf = 64 << 10;

Status check_options(const Options& options) {
  const uint64_t ring = uint64_t{options.subbuf_count} * options.subbuf_size;
  if (!std::has_single_bit(options.subbuf_count) || !std::has_single_bit(options.subbuf_size) ||
      options.subbuf_count < 2 || options.subbuf_size < abi::kPageSize || ring > kMaxRingSize)
    return Error(ErrorKind::kUsage,
                 "buffers: --num-subbuf and --subbuf-size must be powers of two, at least 2 and 4k, together "
                 "at most 1G");
  if (options.clock == ClockChoice::kTsc && !proc::tsc_usable())
    return Error(
        ErrorKind::kUnsupported,
        "the CPU's cycle counter is not constant: omit --clock tsc, and times come from CLOCK_MONOTONIC");
  if (options.clock == ClockChoice::kTsc && options.backend == Backend::kUprobe)
    return Error(ErrorKind::kUsage, "--clock tsc: uprobes take their times from CLOCK_MONOTONIC");
  if (options.backend == Backend::kUprobe && any_asks(options, asks_for_data))
    return Error(ErrorKind::kUsage,
                 "--backend uprobe: the kernel's breakpoints cannot look at the program's data: omit it, or "
                 "omit --args, --locals, --capture, --filter and values in memory");
  if (options.backend == Backend::kUprobe && any_asks(options, asks_for_stack))
    return Error(ErrorKind::kUsage,
                 "--backend uprobe: the kernel's breakpoints cannot walk up the program's stack: omit it, or "
                 "omit --context backtrace");
  return {};
}

}  // namespace

Status Session::Impl::start(const std::function<void()>& waiting) {
  TRY_OK(check_options(options));
  if (!options.command.empty()) {
    TRY_OK(start_command());
  } else if (!options.process_name.empty()) {
    TRY_OK(start_by_name(waiting));
  } else {
    for (pid_t pid : options.pids) TRY_OK(add_by_pid(pid));
    TRY_OK(check_requests());
  }
  if (options.mode == Mode::kRecord && first_process()) TRY_OK(open_output(*first_process()));
  choose_buffers();
  if (options.backend == Backend::kUprobe && options.follow_fork)
    armed.remarks.push_back("uprobes do not follow forks: children are not traced");
  if (!unarmed.empty() && !options.probes.empty())
    armed.remarks.push_back("nothing matches yet: waiting for programs that come later (--follow-exec)");
  Status status = register_early();
  if (status) status = arm_planned();
  if (!status && dir) dir->abandon();
  armed.total_ms = since_process_start_ms() - waited_ms;
  armed.notes.push_back(fmt::format("instrumentation {:.1f} ms, registration {:.1f} ms",
                                    armed.total_ms - registration_ms, registration_ms));
  return status;
}

Status Session::Impl::start_command() {
  TRY(Spawn started, Spawn::start(options.command, context));
  spawn.emplace(std::move(started));
  current_command.hold(spawn->command);
  if (spawn->planned) {
    planned.push_back(std::move(spawn->planned));
  } else if (!spawn->ended) {
    TRY(proc::Process process, proc::Process::open(spawn->command.pid()));
    unarmed.push_back(std::move(process));
  }
  armed.remarks = spawn->remarks;
  armed.notes = spawn->notes;
  return {};
}

const proc::Process* Session::Impl::first_process() const {
  if (!planned.empty()) return &planned.front()->process();
  if (!unarmed.empty()) return &unarmed.front();
  return spawn && spawn->early ? &spawn->early->process() : nullptr;
}

// What a command did before everything in it could be probed.
Status Session::Impl::register_early() {
  if (!spawn || !spawn->early) return {};
  if (spawn->ended) spawn->early->report(armed);
  return register_streams(*spawn->early);
}

// As long as nothing is armed anywhere, nothing has to be undone if the user wants to end.
Result<std::unique_ptr<TracedProcess>> Session::Impl::plan_untouched(proc::Process process,
                                                                     const PlanScope& scope) {
  std::optional<stop::Untouched> untouched;
  if (live.empty() && !spawn) untouched.emplace();
  TRY_OK(stop::check());  // a signal that came before
  TRY(std::unique_ptr<TracedProcess> traced, TracedProcess::plan(std::move(process), context, scope));
  TRY_OK(stop::check());
  return traced;
}

Status Session::Impl::add_by_pid(pid_t pid) {
  TRY(proc::Process process, proc::Process::open(pid, options.init()));
  if (options.probes.empty()) {
    unarmed.push_back(std::move(process));
    return {};
  }
  const bool several = options.pids.size() > 1;
  auto traced = plan_untouched(std::move(process), {.part_will_do = options.follow_exec || several});
  if (!traced && options.follow_exec && traced.error().kind() == ErrorKind::kNotFound) {
    TRY(proc::Process same, proc::Process::open(pid, options.init()));
    unarmed.push_back(std::move(same));
    return {};
  }
  if (!traced && several && traced.error().kind() == ErrorKind::kNotFound) {
    armed.remarks.push_back(fmt::format("process {}: nothing in it matches, it is not traced", pid));
    return {};
  }
  if (!traced) return several ? traced.error().with_context(fmt::format("process {}", pid)) : traced.error();
  planned.push_back(*std::move(traced));
  return {};
}

// Of several processes each probe must match in one.
Status Session::Impl::check_requests() const {
  if (options.pids.size() < 2 || options.follow_exec) return {};
  for (size_t i = 0; i < options.probes.size(); ++i) {
    const bool found =
        std::any_of(planned.begin(), planned.end(), [&](const auto& p) { return p->means(i); });
    if (!found)
      return Error(ErrorKind::kNotFound,
                   fmt::format("nothing matches '{}' in any of the {} processes: blip list -p PID shows what "
                               "can be probed",
                               options.probes[i].spec.text, options.pids.size()));
  }
  return {};
}

// Every process of the name that can be traced and is not yet; the others are noted.
Result<size_t> Session::Impl::add_by_name() {
  TRY(const std::vector<pid_t> named, proc::find_processes(options.process_name));
  for (pid_t pid : named) {
    if (is_known(pid)) continue;
    auto process = proc::Process::open(pid, options.init());
    auto traced = process ? plan_untouched(*std::move(process), {})
                          : Result<std::unique_ptr<TracedProcess>>(process.error());
    if (traced) {
      planned.push_back(*std::move(traced));
    } else if (traced.error().kind() != ErrorKind::kGone && ++failures[pid] == tries()) {
      armed.notes.push_back(fmt::format("process {} is left out: {}", pid, traced.error().message()));
    }
  }
  return planned.size();
}

bool Session::Impl::is_known(pid_t pid) const {
  if (const auto f = failures.find(pid); f != failures.end() && f->second >= tries()) return true;
  return std::any_of(live.begin(), live.end(), [&](const auto& p) {
    return p->process().pid() == pid || p->target().source().shares(pid);
  });
}

Status Session::Impl::start_by_name(const std::function<void()>& waiting) {
  TRY(const size_t running, add_by_name());
  if (running > 0) return {};
  if (!options.wait_for_processes) {
    if (!armed.notes.empty())
      return Error(ErrorKind::kNotFound, fmt::format("no process named {} can be traced: {}",
                                                     options.process_name, armed.notes.front()));
    return Error(ErrorKind::kNotFound,
                 fmt::format("no process of yours is named {}: --wait waits for one", options.process_name));
  }
  if (waiting) waiting();
  const auto begin = Clock::now();
  auto looked = begin;
  for (auto added = add_by_name(); !added || *added == 0; added = add_by_name()) {
    if (stop::requested() || (options.duration && Clock::now() - begin > *options.duration))
      return Error(ErrorKind::kNotFound, fmt::format("no process named {} came", options.process_name));
    std::this_thread::sleep_for(kLookForProcesses);
    looked = Clock::now();
  }
  waited_ms = to_ms(looked - begin);
  return {};
}

// Many processes must not take all memory.
void Session::Impl::choose_buffers() {
  if (options.buffers_given) return;
  const uint64_t rings = planned.size() * static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  while (context.subbuf_size > kLeastSubbuf &&
         rings * options.subbuf_count * context.subbuf_size > kAllBuffers)
    context.subbuf_size /= 2;
  if (context.subbuf_size != options.subbuf_size)
    armed.notes.push_back(fmt::format("{} processes: buffers of {} x {} KiB per CPU each", planned.size(),
                                      options.subbuf_count, context.subbuf_size >> 10));
}

}  // namespace blip::session
