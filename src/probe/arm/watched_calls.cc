// SPDX-License-Identifier: MIT
#include "probe/arm/watched_calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>

#include "base/page.h"
#include "jit/unmap_pad.h"
#include "machine/thread_registers.h"
#include "probe/code/watched_syscalls.h"
#include "probe/inject/region.h"
#include "proc/files/protection_keys.h"
#include "proc/files/status.h"
#include "proc/user_faults.h"
#include "ring/doomed.h"

namespace blip::probe {

namespace {

constexpr char kUnseenFilter[] = "the program may install a seccomp filter without blip seeing it";

bool is_one_of(std::span<const uint32_t> numbers, uint64_t n) {
  return std::find(numbers.begin(), numbers.end(), n) != numbers.end();
}

bool may_filter(uint32_t number) { return number == jit::kAnyNumber || is_one_of(ring::kFiltering, number); }

TargetAddr instruction_of(const x86::SyscallSite& site) { return site.syscall_at(); }

// What a thread at a `syscall` instruction will call.
uint32_t next_number(const proc::Thread& thread) {
  constexpr uint32_t kX32 = 0x4000'0000;  // the same calls
  const proc::Registers& r = thread.registers;
  return static_cast<uint32_t>(machine::restarts_system_call(r) ? r.system_call() : r.requested_call()) &
         ~kX32;
}

bool any_covered(std::span<const x86::SyscallSite> sites, const x86::Rewrite& rewrite) {
  return std::any_of(sites.begin(), sites.end(),
                     [&](const x86::SyscallSite& site) { return covers(rewrite, site); });
}

}  // namespace

bool any_filtered(proc::Attachment& attachment) {
  const auto& threads = attachment.threads();
  return std::any_of(threads.begin(), threads.end(), [&](const proc::Thread& thread) {
    const auto status = proc::read_status(attachment.pid(), thread.tid);
    return !status || status->seccomp_mode != 0;
  });
}

void WatchedCalls::find_clones() {
  const bool is_static =
      std::none_of(modules_.begin(), modules_.end(), [](const Module& m) { return m.is_libc(); });
  for (const Module& module : modules_) {
    if (module.file().is_go()) unseen_children_ = true;  // its vfork is not of the known form
    for (const elf::Segment& s : module.file().segments()) {
      if (!s.exec) continue;
      const auto text = module.file().bytes(s.range);
      const auto forget_pages = [&] { module.file().release_pages(); };
      auto sites = x86::find_clone_sites(text, module.to_target(s.range.begin), forget_pages);
      if (module.is_libc() || (is_static && module.is_executable()))
        if (const auto musl = x86::find_musl_clone(text, module.to_target(s.range.begin)))
          sites.push_back(*musl);
      for (const x86::SyscallSite& site : sites) {
        if (site.flags_dead_after && !crosses_page(site.addr, abi::kJumpSize)) {
          clones_.push_back(site);
        } else {
          unseen_children_ = true;
        }
      }
    }
  }
}

bool WatchedCalls::plan_ranges(bool wanted) {
  note_filter(process_.seccomp_mode() != 0);
  if (!wanted)
    no_ranges_ = "no program reads memory";
  else if (no_ranges_.empty() && unseen_children_)
    no_ranges_ = "not all code of the program is known";
  else if (no_ranges_.empty() && proc::uses_protection_keys(process_.pid()))
    no_ranges_ = "the program uses protection keys";
  else if (no_ranges_.empty() && proc::has_user_faults(process_.pid()))
    no_ranges_ = "the program handles page faults by itself (userfaultfd)";
  if (no_ranges_.empty()) {
    WatchedSyscalls calls = find_unmap_sites(modules_);
    no_ranges_ = calls.obstacle;
    calls_ = std::move(calls.sites);
  }
  return no_ranges_.empty();
}

void WatchedCalls::plan_filters() {
  WatchedSyscalls calls = find_filter_sites(modules_);
  calls_ = std::move(calls.sites);
  if (!calls.obstacle.empty()) no_calls_ = kUnseenFilter;
}

void WatchedCalls::note_filter(bool is_filtered) {
  if (!is_filtered) return;
  constexpr char kFiltered[] = "the program runs under a seccomp filter";
  if (no_calls_.empty()) no_calls_ = kFiltered;
  if (no_ranges_.empty()) no_ranges_ = kFiltered;
}

void WatchedCalls::note_no_sequences() {
  if (no_ranges_.empty()) no_ranges_ = "the threads have no restartable sequences";
}

void WatchedCalls::note_no_barrier() {
  if (no_ranges_.empty()) no_ranges_ = "the kernel has no membarrier that restarts sequences";
}

// A call that will not be seen.
void WatchedCalls::give_up(const x86::SyscallSite& site) {
  if (no_ranges_.empty()) no_ranges_ = "a system call that takes memory away cannot be watched";
  if (may_filter(site.number) && no_calls_.empty()) no_calls_ = kUnseenFilter;
}

// Each has a jump of its own, or a probe's window that goes on in its pad.
void WatchedCalls::note_unpatched(const PatchTable& table) {
  for (const x86::SyscallSite& site : calls_) {
    const bool is_patched = std::any_of(table.patches.begin(), table.patches.end(), [&](const Patch& p) {
      return (p.unmaps && p.addr == site.addr) || (p.job && covers(p.job->site->rewrite, site));
    });
    if (!is_patched) give_up(site);
  }
}

void WatchedCalls::note_missing(const Patch& patch) {
  for (const x86::SyscallSite& site : calls_) {
    const bool covered = patch.job && covers(patch.job->site->rewrite, site);
    if (covered || (patch.unmaps && site.addr == patch.addr)) give_up(site);
  }
}

void WatchedCalls::note_parked(const ParkedCode& parked) {
  for (const x86::SyscallSite& site : calls_) {
    const bool is_found =
        any_inside(parked.found, [&](const Standing& s) { return s.goes_on == instruction_of(site); });
    if (!is_found && !parked.unknown) continue;
    if (no_ranges_.empty()) no_ranges_ = "a fiber may be about to take memory away";
    if (is_found || mentions_filters(modules_)) give_up(site);
  }
}

bool WatchedCalls::goes_on_in(const x86::Rewrite& rewrite) const {
  return any_covered(clones_, rewrite) || any_covered(calls_, rewrite);
}

bool WatchedCalls::guards_clone(const Patch& patch) const {
  return patch.job && any_covered(clones_, patch.job->site->rewrite);
}

std::vector<AddrRange> WatchedCalls::call_instructions() const {
  std::vector<AddrRange> places;
  for (const x86::SyscallSite& site : calls_)
    places.push_back({instruction_of(site), instruction_of(site) + 1});
  return merge_ranges(std::move(places));
}

Result<bool> WatchedCalls::clones_intact(const proc::Memory& memory) const {
  for (const x86::SyscallSite& site : clones_) {
    TRY(const auto bytes, (memory.read_value<std::array<uint8_t, abi::kJumpSize>>(site.addr)));
    if (bytes != first_instruction(site)) return false;
  }
  return true;
}

bool WatchedCalls::any_before_clone(StoppedCode& code) const {
  return who_is_inside(code,
                       [&](const Standing& s) {
                         return std::any_of(
                             clones_.begin(), clones_.end(),
                             [&](const x86::SyscallSite& site) { return s.goes_on == instruction_of(site); });
                       })
      .has_value();
}

// Whoever waits in syscall() for something else will not mind the jump; what a signal handler will call there
// is not known, and counts only for direct reads.
bool WatchedCalls::any_before_call(StoppedCode& code, std::span<const InterruptedCode> interrupted,
                                   bool last_try) {
  for (const x86::SyscallSite& site : calls_) {
    const TargetAddr at = instruction_of(site);
    bool filters = false, dooms = false;
    for (const proc::Thread& thread : code.attachment().threads()) {
      if (TargetAddr(thread.restart_pc()) != at) continue;
      filters |= is_one_of(ring::kFiltering, next_number(thread));
      dooms |= is_one_of(ring::kDooming, next_number(thread));
    }
    const bool returns_there = any_inside(interrupted, [&](const Standing& s) { return s.goes_on == at; });
    filters |= returns_there && is_one_of(ring::kFiltering, site.number);
    dooms |= returns_there;
    if (!filters && (!dooms || !no_ranges_.empty())) continue;
    if (!last_try) return true;
    if (no_ranges_.empty()) no_ranges_ = "the program takes memory away all the time";
    if (filters) give_up(site);
  }
  return false;
}

}  // namespace blip::probe
