// SPDX-License-Identifier: MIT
// Processes that come, call exec and go: told as events (--lifecycle), traced on (--follow-exec).
#include <fmt/core.h>

#include <utility>

#include "probe/code/loader.h"
#include "proc/files/executable_path.h"
#include "proc/files/thread_names.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

// A loader that takes longer is not waited for: what is there is traced.
constexpr std::chrono::seconds kLongestStart{2};

bool is_ready(const proc::Process& process, TraceContext& context) {
  const auto memory = proc::Memory::open_read_only(process.pid());
  const auto maps = proc::read_maps(process.pid());
  if (!memory || !maps) return false;
  const auto loaded = probe::load_modules(process, *memory, *maps, context.files);
  return loaded && probe::libraries_ready(loaded->modules, *memory);
}

}  // namespace

// Before the first of them can do anything that is to be told.
void Session::Impl::watch_all() {
  if (!family) return;
  const auto watch = [&](const proc::Process& process, bool has_pads) {
    if (watched.insert(process.pid()).second) family->add(process.pid());
    if (lifecycle) lifecycle->begin({process.pid(), process.ns_pid()}, has_pads);
  };
  for (const auto& process : live)
    if (process->is_unwatched()) watch(process->process(), process->tells_lives());
  for (const proc::Process& process : unarmed)
    if (!watched.contains(process.pid())) watch(process, false);
}

// Without it, who calls exec or has nothing to be probed is left alone.
bool Session::Impl::may_come_later() const {
  if (!family || !(options.follow_exec || options.probes.empty())) return false;
  return !family->empty() || (watched.empty() && !(live.empty() && unarmed.empty()));
}

// Who has just been born is looked at while he is there.
void Session::Impl::hear_lives() {
  FamilyNews born;
  for (pid_t pid : lifecycle->take_records())
    if (options.follow_fork && !family->adopt(pid, born)) lost.push_back(pid);
  news.append(born);
  if (!options.follow_exec) return;
  for (const ProcessId& id : born.executed) executed.try_emplace(id.pid, Clock::now());
}

void Session::Impl::settle_lives(uint64_t now_ns) {
  if (!lifecycle) return;
  watch_all();
  hear_lives();
  lifecycle->settle(heard_until(now_ns));
}

// Who calls exec or ends is seen at once; the events of --lifecycle come with the scans, since what began
// after one of them must not be told with a time before.
void Session::Impl::look_at_family() {
  const bool scans = family->scan_is_due();
  const FamilyNews now = family->look();
  if (lifecycle) {
    news.append(now);
    for (const auto& process : live) hear_of_children(*process);
    hear_lives();
    if (scans) lifecycle->look(std::exchange(news, {}), std::exchange(heard_of, {}), std::exchange(lost, {}));
  }
  if (!options.follow_exec) return;
  for (const ProcessId& id : now.executed) executed.try_emplace(id.pid, Clock::now());
  for (const FamilyNews::Death& death : now.died) executed.erase(death.process.pid);
}

// The last look of all.
void Session::Impl::end_lifecycle() {
  if (!lifecycle) return;
  family->wait_for_leaving();
  hear_lives();
  family->hurry();
  look_at_family();
  lifecycle->finish();
  if (const Status flushed = lifecycle->flush(true); !flushed && !output_error)
    output_error = flushed.error();
  totals.events += lifecycle->events();
}

void Session::Impl::follow(const Hooks& hooks) {
  if (!family) return;
  watch_all();
  look_at_family();
  if (lifecycle)
    if (const Status flushed = lifecycle->flush(false); !flushed && !output_error)
      output_error = flushed.error();
  trace_executed(hooks);
}

void Session::Impl::trace_executed(const Hooks& hooks) {
  for (auto e = executed.begin(); e != executed.end();) {
    const auto process = proc::Process::open(e->first, options.init());
    const bool wait = process && !is_ready(*process, context) && Clock::now() - e->second < kLongestStart;
    if (wait) {
      ++e;
      continue;
    }
    trace_new_image(e->first, hooks);
    e = executed.erase(e);
  }
}

// False: not this one, for a reason that is told.
bool Session::Impl::trace_new_image(pid_t pid, const Hooks& hooks) {
  std::string path = proc::executable_path(pid);
  if (path.empty()) path = proc::read_comm(pid, pid);  // it may not be looked at any more
  const auto refuse = [&](const Error& error) {
    if (error.kind() == ErrorKind::kGone || !hooks.notice) return false;
    if (error.kind() == ErrorKind::kNotFound && !options.verbose) return false;
    hooks.notice(fmt::format("process {} executed {} and is not traced: {}", pid, path, error.message()));
    return false;
  };
  auto process = proc::Process::open(pid, options.init());
  if (!process) return refuse(process.error());
  auto plan = TracedProcess::plan(*std::move(process), context, {.part_will_do = true});
  if (!plan) return refuse(plan.error());
  const uint64_t before = armed.probes;
  if (const Status status = arm_one(*std::move(plan)); !status) return refuse(status.error());
  if (hooks.notice)
    hooks.notice(fmt::format("process {} executed {}: armed {} probes", pid, path, armed.probes - before));
  return true;
}

}  // namespace blip::session
