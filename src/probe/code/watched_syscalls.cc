// SPDX-License-Identifier: MIT
#include "probe/code/watched_syscalls.h"

#include <algorithm>
#include <iterator>

#include "base/parallel.h"
#include "jit/unmap_pad.h"
#include "probe/code/module_syscalls.h"
#include "ring/doomed.h"

namespace blip::probe {

namespace {

constexpr char kGo[] = "Go programs make system calls of their own";

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

bool has_expected(std::span<const x86::SyscallSite> sites) {
  return std::all_of(std::begin(kExpected), std::end(kExpected), [&](uint32_t number) {
    return std::any_of(sites.begin(), sites.end(), [&](const auto& s) { return s.number == number; });
  });
}

// Finds the calls of all modules. Each module is looked at once; a large one takes some milliseconds.
std::vector<ModuleSyscalls> calls_of(std::span<const Module> modules, std::span<const uint32_t> numbers,
                                     SyscallSearch search) {
  std::vector<ModuleSyscalls> all(modules.size());
  parallel_pieces(modules.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      all[i] = modules[i].file().is_go() ? ModuleSyscalls{.sites = {}, .unknown = kGo}
                                         : find_module_syscalls(modules[i], numbers, search);
  });
  return all;
}

}  // namespace

std::string syscalls_of_its_own(const Module& module) {
  const ModuleSyscalls calls = calls_of({&module, 1}, ring::kDooming, SyscallSearch::kAllOrNone).front();
  if (!calls.unknown.empty()) return calls.unknown;
  return calls.sites.empty() ? "" : module.basename() + " makes system calls of its own";
}

WatchedSyscalls find_unmap_sites(std::span<const Module> modules) {
  WatchedSyscalls found;
  bool has_libc = false;
  const std::vector<ModuleSyscalls> all = calls_of(modules, ring::kDooming, SyscallSearch::kAllOrNone);
  for (size_t i = 0; i < modules.size(); ++i) {
    const Module& module = modules[i];
    const ModuleSyscalls& calls = all[i];
    if (!calls.unknown.empty()) return {.sites = {}, .obstacle = calls.unknown};
    const bool is_libc = is_glibc(module);
    if (is_libc && !has_expected(calls.sites))
      return {.sites = {},
              .obstacle = module.basename() + " makes system calls in a way that blip does not know"};
    has_libc |= is_libc;
    found.sites.insert(found.sites.end(), calls.sites.begin(), calls.sites.end());
  }
  if (!has_libc) return {.sites = {}, .obstacle = "the program does not use the GNU C library"};
  return found;
}

WatchedSyscalls find_filter_sites(std::span<const Module> modules) {
  WatchedSyscalls found;
  const bool may_hide_some = mentions_filters(modules);
  const SyscallSearch search = may_hide_some ? SyscallSearch::kAll : SyscallSearch::kWatchable;
  for (ModuleSyscalls& calls : calls_of(modules, ring::kFiltering, search)) {
    found.sites.insert(found.sites.end(), calls.sites.begin(), calls.sites.end());
    if (may_hide_some && !calls.unknown.empty()) found.obstacle = std::move(calls.unknown);
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
