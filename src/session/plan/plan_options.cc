// SPDX-License-Identifier: MIT
#include "session/plan/plan_options.h"

#include <csignal>

#include "probe/code/fault_handlers.h"
#include "proc/files/status.h"

namespace blip::session {

namespace {

constexpr uint64_t signal_bit(int signal) { return uint64_t{1} << (signal - 1); }
constexpr uint64_t kMemorySignals = signal_bit(SIGSEGV) | signal_bit(SIGBUS);

}  // namespace

Result<probe::PlanOptions> plan_options_of(pid_t pid, std::span<const probe::Module> modules,
                                           MovedFaults moved_faults) {
  if (moved_faults == MovedFaults::kRefuse) return plan_options_of_file(moved_faults);
  TRY(const pid_t thread, proc::find_live_thread(pid));
  TRY(const proc::ProcStatus status, proc::read_status(pid, thread));
  return probe::PlanOptions{
      .faults_matter = (status.caught & kMemorySignals) != 0,
      .overflows_matter = (status.caught & signal_bit(SIGFPE)) != 0,
      .accept_faults = moved_faults == MovedFaults::kAccept || probe::faults_are_only_reported(modules)};
}

probe::PlanOptions plan_options_of_file(MovedFaults moved_faults) {
  const bool stay = moved_faults == MovedFaults::kRefuse;
  return {.faults_matter = stay, .overflows_matter = stay};
}

}  // namespace blip::session
