// SPDX-License-Identifier: MIT
#include "session/run/handler_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/path.h"
#include "base/same_file.h"
#include "elf/mark_spec.h"
#include "elf/match.h"
#include "probe/code/functions.h"
#include "proc/files/find_processes.h"
#include "proc/files/process.h"
#include "session/plan/contexts.h"

namespace blip::session {

namespace {

using script::WantedProbe;
using Kind = WantedProbe::Kind;

script::CodeName place_of(const Target& target, const probe::Module& module) {
  const elf::Function& function = target.point.function;
  return {.function = target.instance ? target.name : probe::display_name(module, function),
          .offset = target.point.addr.value - function.addr.value,
          .module = module.path(),
          .file = {},
          .line = 0};
}

std::optional<ProbeKind> kind_of(Kind kind) {
  switch (kind) {
    case Kind::kFunction:
      return ProbeKind::kFunction;
    case Kind::kReturn:
      return ProbeKind::kReturn;
    case Kind::kInstruction:
      return ProbeKind::kInstruction;
    case Kind::kLine:
      return ProbeKind::kLine;
    case Kind::kMark:
      return ProbeKind::kMark;
    default:
      return std::nullopt;
  }
}

std::string text_of(const WantedProbe& wanted) {
  if (wanted.kind == Kind::kLine) return fmt::format("{}:{}", wanted.file, wanted.line);
  std::string text = wanted.module.empty() ? "" : std::string(basename_of(wanted.module)) + ":";
  text += wanted.name;
  if (wanted.offset) text += fmt::format("+{:#x}", *wanted.offset);
  return text;
}

bool is_path(const std::string& module) { return module.find('/') != std::string::npos; }

// A module by its path is looked for by its basename, and compared as a file then.
void say_where(const WantedProbe& wanted, ProbeRequest& request) {
  if (wanted.module.empty()) {
    request.only_in = "";
    return;
  }
  request.spec.module = std::string(basename_of(wanted.module));
  if (is_path(wanted.module) && !elf::is_glob(wanted.module)) request.only_in = wanted.module;
}

Result<elf::Spec> spec_of(const WantedProbe& wanted) {
  elf::Spec spec{.name = wanted.name, .text = text_of(wanted)};
  if (wanted.kind == Kind::kMark) return elf::parse_mark_spec(wanted.name);
  if (wanted.kind == Kind::kLine) {
    spec.name = wanted.file;
  } else if (wanted.offset && wanted.name.empty()) {
    spec.kind = elf::SpecKind::kSymbolOffset;  // FILE+0xOFF
    spec.name = basename_of(wanted.module);
    spec.offset = *wanted.offset;
  } else if (wanted.kind == Kind::kInstruction) {
    spec.kind = elf::SpecKind::kSymbolOffset;
    spec.offset = wanted.offset.value_or(0);
  } else if (elf::is_glob(wanted.name)) {
    spec.kind = elf::SpecKind::kGlob;
  }
  return spec;
}

Result<ProbeRequest> request_of(const WantedProbe& wanted, size_t number) {
  const auto kind = kind_of(wanted.kind);
  if (!kind) return Error(ErrorKind::kUnsupported, "probes of this kind are not available in this version");
  TRY(elf::Spec spec, spec_of(wanted));
  ProbeRequest request{.spec = std::move(spec), .kind = *kind, .line = wanted.line, .wanted = number};
  const bool is_in_file = wanted.offset && wanted.name.empty();
  if (!is_in_file && wanted.kind != Kind::kLine) say_where(wanted, request);
  if (wanted.kind == Kind::kMark) {
    request.spec.text = text_of(wanted);
    if (wanted.module.empty()) request.only_in.reset();  // in all modules
  }
  request.contexts.push_back({&contexts::kCpu});
  if (wanted.uses_stack) request.contexts.push_back({&contexts::kBacktrace});
  request.may_be_missing = wanted.may_be_missing;
  return request;
}

}  // namespace

Result<HitData> HandlerPlan::handler_at(const Target& target, const probe::Module& module,
                                        script::HitSite& site) {
  const size_t probe = *options_.probes[target.request].wanted;
  TRY(Handlers::AtHit made,
      handlers_.add_site(probe, place_of(target, module), site, module.to_target(target.point.addr).value));
  return HitData{
      .hit = std::move(made.hit), .fields = {}, .kept = std::move(made.kept), .number = made.number};
}

Result<std::vector<pid_t>> processes_of(const script::Script& script) {
  std::vector<std::string> modules;
  for (const WantedProbe& probe : script.probes()) {
    if (!script::has_hit(probe.kind)) continue;
    if (probe.module.empty())
      return Error(ErrorKind::kUsage,
                   "the script probes processes: name one with -p PID or -n NAME, or a command after --");
    modules.push_back(probe.module);
  }
  const auto is_meant = [&](const std::string& path) {
    return std::any_of(modules.begin(), modules.end(), [&](const std::string& module) {
      return is_path(module) && !elf::is_glob(module) ? is_same_file(path, module)
                                                      : elf::module_matches(module, basename_of(path));
    });
  };
  TRY(std::vector<pid_t> pids, proc::find_processes_with(is_meant));
  std::erase_if(pids, [](pid_t pid) { return !proc::Process::open(pid); });
  if (!pids.empty()) return pids;
  return Error(ErrorKind::kNotFound,
               fmt::format("no process of yours has code of {}: name one with -p PID, or a command after --",
                           modules.front()));
}

Result<std::vector<ProbeRequest>> requests_of(const script::Script& script) {
  std::vector<ProbeRequest> requests;
  std::map<size_t, size_t> numbers;  // of requests, by probe
  const auto& probes = script.probes();
  for (size_t i = 0; i < probes.size(); ++i) {
    if (!script::has_hit(probes[i].kind)) continue;
    numbers[i] = requests.size();
    TRY(ProbeRequest request, request_of(probes[i], i));
    requests.push_back(std::move(request));
  }
  for (ProbeRequest& request : requests)
    if (const auto& first = probes[*request.wanted].instead_of) {
      if (const auto known = numbers.find(*first); known != numbers.end()) request.instead_of = known->second;
      request.may_be_missing = true;
    }
  return requests;
}

}  // namespace blip::session
