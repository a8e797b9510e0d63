// SPDX-License-Identifier: MIT
#include "session/list/list_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "probe/patch/coverage.h"
#include "probe/patch/plan.h"
#include "proc/files/find_processes.h"
#include "proc/files/process.h"
#include "session/plan/plan_options.h"
#include "session/plan/trampoline_room.h"

namespace blip::session {

namespace {

Result<ListSource> open_process(pid_t pid, MovedFaults moved_faults) {
  ListSource source;
  TRY(const proc::Process process, proc::Process::open(pid));
  TRY(source.memory, proc::Memory::open_read_only(pid));
  TRY(source.maps, proc::read_maps(pid));
  TRY(probe::LoadedModules loaded, probe::load_modules(process, *source.memory, source.maps));
  source.modules = std::move(loaded.modules);
  source.unreadable = std::move(loaded.unreadable);
  TRY(source.plan_options, plan_options_of(pid, source.modules, moved_faults));
  source.space = room_for_trampolines(source.maps, 0, true);
  return source;
}

}  // namespace

Result<pid_t> process_named(const std::string& name) {
  TRY(const std::vector<pid_t> named, proc::find_processes(name));
  if (named.empty()) return Error(ErrorKind::kNotFound, fmt::format("no process of yours is named {}", name));
  if (named.size() > 1)
    return Error(ErrorKind::kUsage, fmt::format("several processes are named {}: choose one with -p: {}",
                                                name, fmt::join(named, ", ")));
  return named.front();
}

Result<ListSource> ListSource::open(const ListRequest& request) {
  if (request.pid != 0) return open_process(request.pid, request.moved_faults);
  ListSource source;
  TRY(probe::Module module, probe::Module::of_file(request.file));
  source.modules.push_back(std::move(module));
  source.plan_options = plan_options_of_file(request.moved_faults);
  source.space = probe::assumed_space(source.loaded(0));
  return source;
}

elf::Spec ListSource::spec_of(const ListRequest& request) const {
  elf::Spec spec = *request.spec;
  if (!memory && !spec.module && spec.kind != elf::SpecKind::kAddress) spec.module = "*";
  return spec;
}

probe::Module ListSource::loaded(size_t m) const {
  return memory ? modules[m] : probe::assume_loaded(modules[m]);
}

std::vector<std::string> ListSource::notes() const {
  std::vector<std::string> notes;
  for (const probe::UnreadableModule& m : unreadable) notes.push_back(m.text());
  return notes;
}

}  // namespace blip::session
