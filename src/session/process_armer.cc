// SPDX-License-Identifier: MIT
#include "session/process_armer.h"

#include <fmt/core.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "session/plan/environment.h"

namespace blip::session {

// Of the processes of a name, one may end between plan and arm, or turn out to be in other hands.
Status ProcessArmer::arm_planned() {
  const progress::Step step("attaching");
  const Options& options = context_.options;
  Roster::Processes todo = std::exchange(roster_.planned(), {});
  std::optional<Error> failed;
  for (std::unique_ptr<TracedProcess>& process : todo) {
    const pid_t pid = process->process().pid();
    const Status status = arm(std::move(process));
    if (status) continue;
    if (options.probes.empty() && !is_everything_lost()) {
      TRY_OK(watch_only(pid, status.error()));
      continue;
    }
    if (options.process_name.empty() || is_everything_lost())
      return options.pids.size() > 1 ? status.error().with_context(fmt::format("process {}", pid))
                                     : status.error();
    roster_.leave_out(pid);
    armed_.notes.push_back(fmt::format("process {} is left out: {}", pid, status.error().message()));
    failed = status.error();
  }
  if (roster_.live().empty() && failed) return *failed;
  return {};
}

// Then no other process can be armed either.
bool ProcessArmer::is_everything_lost() const { return outputs_.error() || context_.stop.requested(); }

Status ProcessArmer::watch_only(pid_t pid, const Error& why) {
  TRY(proc::Process process, proc::Process::open(pid, context_.options.init()));
  roster_.unarmed().push_back(std::move(process));
  armed_.notes.push_back("what is too short to be seen will be missed: " + why.message());
  return {};
}

Status ProcessArmer::arm(std::unique_ptr<TracedProcess> process) {
  TRY_OK(process->arm());
  const double instrumented_ms = since_process_start_ms();
  const Status registered = outputs_.add(*process);
  outputs_.note(registered);
  TRY_OK(registered);
  registration_ms_ += since_process_start_ms() - instrumented_ms;
  process->report(armed_);
  roster_.live().push_back(std::move(process));
  return {};
}

}  // namespace blip::session
