// SPDX-License-Identifier: MIT
#include "probe/watched_calls.h"

#include <algorithm>
#include <iterator>

#include "jit/unmap_pad.h"
#include "probe/module_calls.h"
#include "ring/doomed.h"

namespace blip::probe {

namespace {

// Without one of these the library is not what it is taken for.
constexpr uint32_t kExpected[] = {ring::kMmap,   ring::kMprotect, ring::kMunmap,  ring::kBrk,
                                  ring::kMremap, ring::kMadvise,  jit::kAnyNumber};

bool is_glibc(const Module& module) {
  if (!module.is_libc()) return false;
  const auto symbols = module.symbols();
  if (!symbols) return false;
  const auto functions = (*symbols)->functions();
  return std::any_of(functions.begin(), functions.end(),
                     [](const elf::Function& f) { return f.name == "gnu_get_libc_version"; });
}

bool has_expected(std::span<const x86::CloneSite> sites) {
  return std::all_of(std::begin(kExpected), std::end(kExpected), [&](uint32_t number) {
    return std::any_of(sites.begin(), sites.end(), [&](const auto& s) { return s.number == number; });
  });
}

}  // namespace

std::string calls_of_its_own(const Module& module) {
  if (module.file().is_go()) return "Go programs make system calls of their own";
  ModuleCalls calls = find_module_calls(module, ring::kDooming);
  if (!calls.unknown.empty()) return calls.unknown;
  return calls.sites.empty() ? "" : module.basename() + " makes system calls of its own";
}

WatchedCalls find_unmap_sites(std::span<const Module> modules) {
  WatchedCalls found;
  bool has_libc = false;
  for (const Module& module : modules) {
    if (module.file().is_go()) return {.sites = {}, .obstacle = "Go programs make system calls of their own"};
    const ModuleCalls calls = find_module_calls(module, ring::kDooming);
    if (!calls.unknown.empty()) return {.sites = {}, .obstacle = calls.unknown};
    if (is_glibc(module) && !has_expected(calls.sites))
      return {.sites = {},
              .obstacle = module.basename() + " makes system calls in a way that blip does not know"};
    has_libc |= is_glibc(module);
    found.sites.insert(found.sites.end(), calls.sites.begin(), calls.sites.end());
  }
  if (!has_libc) return {.sites = {}, .obstacle = "the program does not use the GNU C library"};
  return found;
}

WatchedCalls find_filter_sites(std::span<const Module> modules) {
  WatchedCalls found;
  for (const Module& module : modules) {
    if (module.file().is_go()) {
      found.obstacle = "Go programs make system calls of their own";
      continue;
    }
    ModuleCalls calls = find_module_calls(module, ring::kFiltering);
    found.sites.insert(found.sites.end(), calls.sites.begin(), calls.sites.end());
    if (!calls.unknown.empty()) found.obstacle = std::move(calls.unknown);
  }
  return found;
}

bool mentions_filters(std::span<const Module> modules) {
  constexpr std::string_view kWord = "seccomp";
  return std::any_of(modules.begin(), modules.end(), [&](const Module& module) {
    if (module.basename().find(kWord) != std::string::npos) return true;
    const auto symbols = module.symbols();
    if (!symbols) return false;
    const auto functions = (*symbols)->functions();
    return std::any_of(functions.begin(), functions.end(),
                       [&](const elf::Function& f) { return f.name.find(kWord) != std::string::npos; });
  });
}

}  // namespace blip::probe
