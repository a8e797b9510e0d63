// SPDX-License-Identifier: MIT
#include "probe/code/trap_sites.h"

#include <algorithm>
#include <utility>

#include "abi/layout.h"
#include "base/page.h"
#include "jit/trap_pads.h"

namespace blip::probe {

namespace {

std::vector<x86::SyscallSite> sites_in(const Module& module) {
  std::vector<x86::SyscallSite> all;
  for (const elf::Segment& s : module.file().segments()) {
    if (!s.exec) continue;
    const auto some = x86::find_syscall_sites(module.file().bytes(s.range), module.to_target(s.range.begin),
                                              jit::kSigactionNumber);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool is_loader(const Module& module) {
  return module.basename().starts_with("ld-") || module.basename().starts_with("ld.so");
}

}  // namespace

// A libc blocks all signals now and then: in pthread_create, posix_spawn, system, and in threads of its own.
// A module that calls rt_sigaction itself is a C library, or has one linked into it.
std::string no_traps_in(const Module& module) {
  if (module.file().is_go()) return "traps cannot be used in Go programs, whose runtime owns the signals";
  if (module.is_libc() || is_loader(module) || module.basename().starts_with("libpthread"))
    return "no traps in the C library: it runs with all signals blocked at times";
  if (!sites_in(module).empty())
    return "no traps where a C library is linked in statically: it runs with all signals blocked at times";
  return "";
}

SigactionSites find_sigaction_sites(std::span<const Module> modules) {
  SigactionSites found;
  bool all = true;
  for (const Module& module : modules) {
    if (is_loader(module) && !module.is_libc()) continue;  // has a copy of its own, which it does not use
    for (const x86::SyscallSite& site : sites_in(module)) {
      all &= site.flags_dead_after && !crosses_page(site.addr, abi::kJumpSize);
      found.sites.push_back(site);
    }
  }
  found.complete = all && !found.sites.empty();
  if (!found.complete) found.sites.clear();
  return found;
}

}  // namespace blip::probe
