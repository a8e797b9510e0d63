// SPDX-License-Identifier: MIT
#include "session/list/script_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "probe/code/functions.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "script/types/type.h"
#include "session/plan/scopes.h"
#include "session/plan/targets.h"

namespace blip::session {

namespace {

// The files of a process, or files by themselves.
struct Files {
  std::optional<proc::Memory> memory;
  std::vector<proc::Map> maps;
  probe::LoadedModules loaded;
};

Result<Files> files_of_process(pid_t pid) {
  Files files;
  TRY(const proc::Process process, proc::Process::open(pid));
  TRY(files.memory, proc::Memory::open_read_only(pid));
  TRY(files.maps, proc::read_maps(pid));
  TRY(files.loaded, probe::load_modules(process, *files.memory, files.maps));
  return files;
}

Result<Files> files_of_script(const script::Script& script) {
  Files files;
  for (const script::WantedProbe& probe : script.probes()) {
    if (!script::has_hit(probe.kind)) continue;
    if (probe.module.find('/') == std::string::npos)
      return Error(ErrorKind::kUsage, fmt::format("{}: name its file by a path, or a process with -p PID",
                                                  probe.module.empty() ? "the executable" : probe.module));
    const auto& known = files.loaded.modules;
    if (std::any_of(known.begin(), known.end(), [&](const auto& m) { return m.path() == probe.module; }))
      continue;
    TRY(probe::Module module, probe::Module::of_file(probe.module));
    files.loaded.modules.push_back(std::move(module));
  }
  return files;
}

std::vector<std::string> variables_of(script::Scope& scope) {
  std::vector<std::string> names;
  const auto add = [&](const script::Variable& v) {
    names.push_back(v.type ? fmt::format("{} {}", script::to_string(*v.type), v.name) : v.name);
  };
  for (const script::Variable& v : scope.parameters()) add(v);
  for (const script::Variable& v : scope.locals()) add(v);
  return names;
}

}  // namespace

Result<std::vector<ListedPlace>> list_places(const script::Script& script, const Options& options,
                                             bool with_variables) {
  TRY(Files files, options.pids.empty() ? files_of_script(script) : files_of_process(options.pids.front()));
  const std::vector<probe::Module>& modules = files.loaded.modules;
  DebugStore debug;
  const probe::ResolveContext resolve{.memory = files.memory ? &*files.memory : nullptr,
                                      .unreadable = files.loaded.unreadable,
                                      .maps = files.maps};
  TRY(const FoundTargets found, find_targets(options, modules, {resolve, debug}, false));
  Scopes scopes(modules, debug);
  std::vector<ListedPlace> places;
  for (const Target& target : found.targets) {
    const probe::Module& module = modules[target.module];
    ListedPlace listed{.probe = *options.probes[target.request].wanted, .place = {}};
    listed.place.function = probe::display_name(module, target.point.function);
    listed.place.offset = target.point.addr.value - target.point.function.addr.value;
    listed.place.module = module.path();
    if (target.mark) listed.place.function = target.name;
    if (with_variables) listed.variables = variables_of(*scopes.at(target));
    places.push_back(std::move(listed));
  }
  return places;
}

}  // namespace blip::session
