// SPDX-License-Identifier: MIT
#include "probe/code/life_sites.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "probe/code/functions.h"
#include "probe/code/module_syscalls.h"
#include "ring/doomed.h"

namespace blip::probe {

namespace {

constexpr uint32_t kNumbers[] = {kExecveNumber, kExitNumber, kExitGroupNumber, kExecveatNumber};

// Other modules leave it to the C library, but for code that is assembled by hand and keeps rules of its own.
bool has_sites(std::span<const Module> modules, const Module& module) {
  const bool any_libc =
      std::any_of(modules.begin(), modules.end(), [](const Module& m) { return m.is_libc(); });
  return any_libc ? module.is_libc() : module.is_executable();
}

// A thread that ends may have given its stack away just before: musl unmaps it in the same function, Go lets
// others use it.
bool may_lack_stack(const Module& module, const SureSyscalls& function, const x86::NumberedCall& call) {
  if (call.numbers.front() != kExitNumber) return false;
  return module.file().is_go() ||
         std::any_of(function.calls.begin(), function.calls.end(), [](const x86::NumberedCall& c) {
           return std::find(c.numbers.begin(), c.numbers.end(), ring::kMunmap) != c.numbers.end();
         });
}

void add_sites(const Module& module, size_t index, std::vector<LifeSite>& sites) {
  for (const SureSyscalls& found : find_sure_syscalls(module, kNumbers)) {
    for (const x86::NumberedCall& call : found.calls) {
      const bool is_wanted = call.numbers.size() == 1 && std::find(std::begin(kNumbers), std::end(kNumbers),
                                                                   call.numbers[0]) != std::end(kNumbers);
      if (!is_wanted || may_lack_stack(module, found, call)) continue;
      const FileAddr at = module.to_file(call.at);
      const auto function = function_around(module, at);
      if (!function || !*function) continue;
      sites.push_back({.module = index,
                       .number = call.numbers[0],
                       .point = {.addr = at, .is_entry = false, .function = **function}});
    }
  }
}

}  // namespace

std::vector<LifeSite> find_life_sites(std::span<const Module> modules) {
  std::vector<LifeSite> sites;
  for (size_t i = 0; i < modules.size(); ++i)
    if (has_sites(modules, modules[i])) add_sites(modules[i], i, sites);
  // What is known of functions may overlap.
  const auto place = [](const LifeSite& s) { return std::pair(s.module, s.point.addr); };
  std::sort(sites.begin(), sites.end(),
            [&](const LifeSite& a, const LifeSite& b) { return place(a) < place(b); });
  sites.erase(std::unique(sites.begin(), sites.end(),
                          [&](const LifeSite& a, const LifeSite& b) { return place(a) == place(b); }),
              sites.end());
  return sites;
}

}  // namespace blip::probe
