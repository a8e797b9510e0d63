// SPDX-License-Identifier: MIT
#include "session/plan/inlined_copies.h"

#include <fmt/core.h>

#include "dwarf/index/identifier.h"
#include "elf/demangle.h"
#include "elf/match.h"
#include "probe/code/points.h"

namespace blip::session {

namespace {

void look_into(const elf::Spec& spec, size_t m, const probe::Module& module, probe::InstructionStarts* starts,
               DebugStore& debug, InlinedCopies& copies) {
  ModuleDebug& known = debug.of(module, spec.module || module.is_executable());  // not for every library
  if (!known.info) return;
  const elf::FunctionMatcher matcher(spec);
  const auto fits = [&](std::string_view name) { return matcher.matches({.name = name}); };
  for (dwarf::InlinedInstance& instance : known.info->inlined_instances({identifier_of(spec.name), fits})) {
    InlinedCopy copy{.module = m, .point = {}, .instance = std::move(instance)};
    auto point = probe::point_at(module, copy.instance.pc, starts);
    if (point) {
      copy.point = *std::move(point);
      copies.found.push_back(std::move(copy));
    } else {
      copies.refused.push_back({copy.name(), point.error().message()});
    }
  }
}

}  // namespace

std::string InlinedCopy::name() const {
  return instance.caller.empty() ? fmt::format("{} (inlined)", instance.function)
                                 : fmt::format("{} (inlined in {})", instance.function, instance.caller);
}

std::span<const probe::Module> InlinedCopies::where_called(const elf::Spec& spec,
                                                           std::span<const probe::Module> modules) const {
  const bool in_executable = !found.empty() && modules[found.front().module].is_executable();
  return in_executable && !spec.module ? modules.first(1) : modules;
}

std::string identifier_of(std::string_view name) {
  if (elf::is_mangled(name)) return std::string(name);
  const std::string plain = elf::without_rust_generics(elf::without_parameters(name));
  return std::string(dwarf::identifier_in(plain));
}

InlinedCopies find_inlined_copies(const elf::Spec& spec, std::span<const probe::Module> modules,
                                  const probe::ResolveContext& context, DebugStore& debug) {
  InlinedCopies copies;
  if (spec.kind != elf::SpecKind::kName) return copies;
  for (size_t m = 0; m < modules.size(); ++m) {
    if (spec.module && !elf::module_matches(*spec.module, modules[m].basename())) continue;
    look_into(spec, m, modules[m], context.starts, debug, copies);
    if (spec.module || !modules[m].is_executable()) continue;
    if (copies.where_called(spec, modules).size() == 1) break;
    if (probe::resolve_functions({&spec, 1}, modules.first(1), context)) break;
  }
  return copies;
}

}  // namespace blip::session
