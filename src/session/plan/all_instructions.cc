// SPDX-License-Identifier: MIT
#include "session/plan/all_instructions.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/progress.h"
#include "elf/match.h"
#include "probe/code/every_instruction.h"
#include "probe/code/functions.h"
#include "probe/code/instructions.h"

namespace blip::session {

namespace {

constexpr size_t kFunctionsPerPiece = 256;
constexpr size_t kAlwaysListed = 1 << 20;  // some hundred bytes each

// "f.cold.3" -> "f".
std::string_view without_cold(std::string_view name) { return name.substr(0, name.find(".cold")); }

// As resolve_functions() has it: a name that the executable has means only that.
bool means_module(const elf::Spec& spec, const probe::Module& module, const std::set<size_t>& with_matches,
                  size_t m) {
  if (spec.module) return elf::module_matches(*spec.module, module.basename());
  return with_matches.empty() ? module.is_executable() : with_matches.contains(m);
}

probe::FunctionTarget target_of(const probe::Module& module, size_t m, elf::Function f) {
  f.is_ifunc = false;  // what is at the address is its resolver
  return {.module = m, .function = f, .name = probe::display_name(module, f)};
}

// Adds what resolve_functions() leaves out because it is not called: cold parts, and everything without a
// name.
Status add_parts(const elf::Spec& spec, std::span<const probe::Module> modules,
                 std::vector<probe::FunctionTarget>& found) {
  const elf::FunctionMatcher matcher(spec);
  std::set<size_t> with_matches;
  std::set<std::pair<size_t, FileAddr>> known;
  for (const probe::FunctionTarget& t : found) {
    with_matches.insert(t.module);
    known.emplace(t.module, t.function.addr);
  }
  for (size_t m = 0; m < modules.size(); ++m) {
    if (!means_module(spec, modules[m], with_matches, m)) continue;
    TRY(const std::vector<elf::Function> all, probe::all_functions(modules[m]));
    for (const elf::Function& f : all) {
      elf::Function whole = f;
      whole.name = without_cold(f.name);
      whole.is_cold = false;
      const bool wanted = elf::is_everything(spec) || (f.is_cold && matcher.matches(whole));
      if (wanted && known.emplace(m, f.addr).second) found.push_back(target_of(modules[m], m, f));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<probe::FunctionTarget>> functions_with_parts(const elf::Spec& spec,
                                                                std::span<const probe::Module> modules,
                                                                const probe::ResolveContext& context) {
  auto named = probe::resolve_functions({&spec, 1}, modules, context);
  if (!named && !elf::is_everything(spec)) return named.error();
  std::vector<probe::FunctionTarget> found = named ? *named : std::vector<probe::FunctionTarget>();
  if (spec.kind != elf::SpecKind::kAddress) TRY_OK(add_parts(spec, modules, found));
  if (found.empty()) return named.error();
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.module, a.function.addr) < std::tuple(b.module, b.function.addr);
  });
  return found;
}

Result<AllInstructions> find_all_instructions(const elf::Spec& spec, std::span<const probe::Module> modules,
                                              const probe::ResolveContext& context, size_t most) {
  TRY(const std::vector<probe::FunctionTarget> functions, functions_with_parts(spec, modules, context));
  const progress::Step step(fmt::format("decoding {} functions", functions.size()));
  std::vector<std::string> refusals(functions.size());
  parallel_pieces(functions.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      refusals[i] = functions[i].function.is_ifunc
                        ? "an IFUNC: what it stands for is not known here"
                        : probe::undecodable(modules[functions[i].module], functions[i].function);
  });
  AllInstructions all;
  std::vector<std::vector<elf::Function>> decodable(modules.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    if (refusals[i].empty())
      decodable[functions[i].module].push_back(functions[i].function);
    else
      all.refused.push_back({functions[i].name, std::move(refusals[i])});
  }
  size_t count = 0;
  for (size_t m = 0; m < modules.size(); ++m) count += probe::count_instructions(modules[m], decodable[m]);
  if (count > std::max(most, kAlwaysListed))
    return Error(ErrorKind::kUsage, fmt::format("{} instructions match, more than {}: say --max-probes {} if "
                                                "you mean it",
                                                count, most, count));
  for (size_t m = 0; m < modules.size(); ++m)
    for (const probe::Point& point : probe::every_instruction(modules[m], decodable[m]))
      all.points.push_back({m, point});
  return all;
}

}  // namespace blip::session
