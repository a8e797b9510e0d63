// SPDX-License-Identifier: MIT
// The part of arming that sees to calls that take memory away, or that make system calls of pads dangerous:
// docs/design/safe_reads.md.
#include "probe/arm/watch_calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "jit/unmap_pad.h"
#include "machine/thread_registers.h"
#include "probe/arm/instrumentation.h"
#include "proc/files/protection_keys.h"
#include "proc/files/status.h"
#include "proc/remote_call.h"
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

}  // namespace

std::vector<AddrRange> instructions_of(std::span<const x86::SyscallSite> sites) {
  std::vector<AddrRange> places;
  for (const x86::SyscallSite& site : sites)
    places.push_back({instruction_of(site), instruction_of(site) + 1});
  return merge_ranges(std::move(places));
}

bool any_before(proc::Attachment& attachment, std::span<const InterruptedCode> interrupted,
                std::span<const x86::SyscallSite> sites) {
  return std::any_of(sites.begin(), sites.end(), [&](const x86::SyscallSite& site) {
    const TargetAddr at = instruction_of(site);
    const auto& threads = attachment.threads();
    return std::any_of(threads.begin(), threads.end(),
                       [&](const proc::Thread& t) { return TargetAddr(t.restart_pc()) == at; }) ||
           std::any_of(interrupted.begin(), interrupted.end(),
                       [&](const InterruptedCode& code) { return code.pc == at; });
  });
}

bool any_parked_before(std::span<const InterruptedCode> parked, const x86::SyscallSite& site) {
  return std::any_of(parked.begin(), parked.end(),
                     [&](const InterruptedCode& code) { return code.pc == instruction_of(site); });
}

bool any_filtered(proc::Attachment& attachment) {
  const auto& threads = attachment.threads();
  return std::any_of(threads.begin(), threads.end(), [&](const proc::Thread& thread) {
    const auto status = proc::read_status(attachment.pid(), thread.tid);
    return !status || status->seccomp_mode != 0;
  });
}

// Where all system calls that take memory away are known, they are watched, and among them those that install
// filters; else only those.
void Instrumentation::plan_calls() {
  note_filter(process_.seccomp_mode() != 0);
  if (!geometry_.ranges)
    no_ranges_ = "no program reads memory";
  else if (no_ranges_.empty() && unhooked_clone_)
    no_ranges_ = "not all code of the program is known";
  else if (no_ranges_.empty() && proc::uses_protection_keys(process_.pid()))
    no_ranges_ = "the program uses protection keys";
  else if (no_ranges_.empty() && proc::has_user_faults(process_.pid()))
    no_ranges_ = "the program handles page faults by itself (userfaultfd)";
  if (no_ranges_.empty()) {
    WatchedSyscalls calls = find_unmap_sites(modules_);
    no_ranges_ = calls.obstacle;
    call_sites_ = std::move(calls.sites);
  }
  geometry_.ranges = no_ranges_.empty();
  if (geometry_.ranges || forbids_calls()) return;
  WatchedSyscalls calls = find_filter_sites(modules_);
  call_sites_ = std::move(calls.sites);
  if (!calls.obstacle.empty()) no_calls_ = kUnseenFilter;
}

// One that is there already.
void Instrumentation::note_filter(bool is_filtered) {
  if (!is_filtered) return;
  constexpr char kFiltered[] = "the program runs under a seccomp filter";
  if (no_calls_.empty()) no_calls_ = kFiltered;
  if (no_ranges_.empty()) no_ranges_ = kFiltered;
}

void Instrumentation::note_barrier(bool registered) {
  if (!no_ranges_.empty()) return;
  if (!facts_.rseq)
    no_ranges_ = "the threads have no restartable sequences";
  else if (!registered)
    no_ranges_ = "the kernel has no membarrier that restarts sequences";
}

// A call that will not be seen.
void Instrumentation::give_up(const x86::SyscallSite& site) {
  if (no_ranges_.empty()) no_ranges_ = "a system call that takes memory away cannot be watched";
  if (may_filter(site.number) && no_calls_.empty()) no_calls_ = kUnseenFilter;
}

// Each has a jump of its own, or a probe's window that goes on in its pad.
void Instrumentation::give_up_unpatched() {
  for (const x86::SyscallSite& site : call_sites_) {
    const bool is_patched = std::any_of(table_.patches.begin(), table_.patches.end(), [&](const Patch& p) {
      return (p.unmaps && p.addr == site.addr) || (p.job && covers(p.job->site->rewrite, site));
    });
    if (!is_patched) give_up(site);
  }
}

// True: later, when nobody is about to make one. Whoever waits in syscall() for something else will not mind
// the jump; what a signal handler will call there is not known, and counts only for direct reads.
bool Instrumentation::meets_call(proc::Attachment& attachment, std::span<const InterruptedCode> interrupted,
                                 bool last_try) {
  for (const x86::SyscallSite& site : call_sites_) {
    const TargetAddr at = instruction_of(site);
    bool filters = false, dooms = false;
    for (const proc::Thread& thread : attachment.threads()) {
      if (TargetAddr(thread.restart_pc()) != at) continue;
      filters |= is_one_of(ring::kFiltering, next_number(thread));
      dooms |= is_one_of(ring::kDooming, next_number(thread));
    }
    const bool returns_there = std::any_of(interrupted.begin(), interrupted.end(),
                                           [&](const InterruptedCode& code) { return code.pc == at; });
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
