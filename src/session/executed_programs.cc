// SPDX-License-Identifier: MIT
#include "session/executed_programs.h"

#include <fmt/core.h>

#include <utility>

#include "probe/code/loader.h"
#include "proc/files/executable_path.h"
#include "proc/files/maps.h"
#include "proc/files/thread_names.h"

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

// Its executable, or what else it is called.
std::string program_of(pid_t pid) {
  std::string path = proc::executable_path(pid);
  return path.empty() ? proc::read_comm(pid, pid) : path;  // it may not be looked at any more
}

}  // namespace

void ExecutedPrograms::arm_ready(const Notice& notice) {
  const Options& options = context_.options;
  for (auto e = since_.begin(); e != since_.end();) {
    const pid_t pid = e->first;
    if (must_wait(pid, e->second)) {
      ++e;
      continue;
    }
    e = since_.erase(e);
    const std::string program = program_of(pid);
    const uint64_t before = armer_.probes();
    const Status armed = arm(pid);
    if (!notice) continue;
    if (armed)
      notice(fmt::format("process {} executed {}: armed {} probes", pid, program, armer_.probes() - before));
    else if (const ErrorKind kind = armed.error().kind();
             kind != ErrorKind::kGone && (kind != ErrorKind::kNotFound || options.verbose))
      notice(
          fmt::format("process {} executed {} and is not traced: {}", pid, program, armed.error().message()));
  }
}

bool ExecutedPrograms::must_wait(pid_t pid, Clock::time_point since) const {
  const auto process = proc::Process::open(pid, context_.options.init());
  return process && !is_ready(*process, context_) && Clock::now() - since < kLongestStart;
}

Status ExecutedPrograms::arm(pid_t pid) {
  TRY(proc::Process process, proc::Process::open(pid, context_.options.init()));
  TRY(auto plan, TracedProcess::plan(std::move(process), context_, {.part_will_do = true}));
  return armer_.arm(std::move(plan));
}

}  // namespace blip::session
