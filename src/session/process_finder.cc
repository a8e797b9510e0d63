// SPDX-License-Identifier: MIT
#include "session/process_finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/milliseconds.h"
#include "proc/files/find_processes.h"

namespace blip::session {

namespace {

constexpr std::chrono::milliseconds kLookForProcesses{100};

}  // namespace

Status ProcessFinder::find(const std::function<void()>& waiting) {
  if (!context_.options.process_name.empty()) return find_by_name(waiting);
  for (const pid_t pid : context_.options.pids) TRY_OK(add_by_pid(pid));
  return check_requests();
}

bool ProcessFinder::find_more() {
  if (!context_.options.wait_for_processes || Clock::now() - last_look_ < kLookForProcesses) return false;
  last_look_ = Clock::now();
  const auto added = add_by_name();
  return added && *added != 0;  // after an error, the next look may find some
}

// As long as nothing is armed anywhere, nothing has to be undone if the user wants to end.
Result<std::unique_ptr<TracedProcess>> ProcessFinder::plan(proc::Process process, const PlanScope& scope) {
  std::optional<StopRequest::Untouched> untouched;
  if (roster_.live().empty()) untouched.emplace(context_.stop);
  TRY_OK(context_.stop.check());  // a signal that came before
  TRY(std::unique_ptr<TracedProcess> traced, TracedProcess::plan(std::move(process), context_, scope));
  TRY_OK(context_.stop.check());
  return traced;
}

Status ProcessFinder::add_by_pid(pid_t pid) {
  const Options& options = context_.options;
  TRY(proc::Process process, proc::Process::open(pid, options.init()));
  if (options.probes.empty()) {
    roster_.unarmed().push_back(std::move(process));
    return {};
  }
  const bool several = options.pids.size() > 1;
  auto traced = plan(std::move(process), {.part_will_do = options.follow_exec || several});
  if (!traced && options.follow_exec && traced.error().kind() == ErrorKind::kNotFound) {
    TRY(proc::Process same, proc::Process::open(pid, options.init()));
    roster_.unarmed().push_back(std::move(same));
    return {};
  }
  if (!traced && several && traced.error().kind() == ErrorKind::kNotFound) {
    armed_.remarks.push_back(fmt::format("process {}: nothing in it matches, it is not traced", pid));
    return {};
  }
  if (!traced) return several ? traced.error().with_context(fmt::format("process {}", pid)) : traced.error();
  roster_.planned().push_back(*std::move(traced));
  return {};
}

// Of several processes each probe must match in one.
Status ProcessFinder::check_requests() const {
  const Options& options = context_.options;
  if (options.pids.size() < 2 || options.follow_exec) return {};
  const Roster::Processes& planned = roster_.planned();
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

// Every process of the name that can be traced and is not yet; the others are noted. Returns how many are planned.
Result<size_t> ProcessFinder::add_by_name() {
  TRY(const std::vector<pid_t> named, proc::find_processes(context_.options.process_name));
  for (const pid_t pid : named) {
    if (roster_.is_settled(pid)) continue;
    auto process = proc::Process::open(pid, context_.options.init());
    auto traced =
        process ? plan(*std::move(process), {}) : Result<std::unique_ptr<TracedProcess>>(process.error());
    if (traced) {
      roster_.planned().push_back(*std::move(traced));
    } else if (traced.error().kind() != ErrorKind::kGone && roster_.note_failure(pid)) {
      armed_.notes.push_back(fmt::format("process {} is left out: {}", pid, traced.error().message()));
    }
  }
  return roster_.planned().size();
}

Status ProcessFinder::find_by_name(const std::function<void()>& waiting) {
  TRY(const size_t running, add_by_name());
  if (running > 0) return {};
  if (!context_.options.wait_for_processes) return none_found();
  if (waiting) waiting();
  return wait_for_one();
}

Error ProcessFinder::none_found() const {
  const std::string& name = context_.options.process_name;
  if (!armed_.notes.empty())
    return Error(ErrorKind::kNotFound,
                 fmt::format("no process named {} can be traced: {}", name, armed_.notes.front()));
  return Error(ErrorKind::kNotFound,
               fmt::format("no process of yours is named {}: --wait waits for one", name));
}

Status ProcessFinder::wait_for_one() {
  const Options& options = context_.options;
  const auto begin = Clock::now();
  auto looked = begin;
  for (auto added = add_by_name(); !added || *added == 0; added = add_by_name()) {
    if (context_.stop.requested() || (options.duration && Clock::now() - begin > *options.duration))
      return Error(ErrorKind::kNotFound, fmt::format("no process named {} came", options.process_name));
    std::this_thread::sleep_for(kLookForProcesses);
    looked = Clock::now();
  }
  waited_ms_ = to_ms(looked - begin);
  return {};
}

}  // namespace blip::session
