// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/code/module.h"
#include "probe/inject/parked_code.h"
#include "probe/inject/who_is_inside.h"
#include "probe/patch/patches.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// The system calls of a target that pads have to see: those that make children which share their parent's
// thread area, those that take memory away (if programs read it), those that install seccomp filters (if pads
// make system calls). What pads may not do is what could not be seen. See docs/design/safe_reads.md.
class WatchedCalls {
 public:
  // `modules_complete`: every mapped file could be read.
  WatchedCalls(const proc::Process& process, std::span<const Module> modules, bool modules_complete)
      : process_(process), modules_(modules), unseen_children_(!modules_complete) {}

  void find_clones();
  // Returns true if what programs read may be published (`wanted`: some do): then all calls that take it away
  // are watched, and among them those that install filters.
  bool plan_ranges(bool wanted);
  // Where they are not, pads that make system calls need to know of filters.
  void plan_filters();

  std::span<const x86::SyscallSite> clones() const { return clones_; }
  // Those that plan_ranges() or plan_filters() found.
  std::span<const x86::SyscallSite> calls() const { return calls_; }
  // A clone-like system call may be made that is not watched.
  bool unseen_children() const { return unseen_children_; }
  // Why memory of the target is read through the kernel only; empty: RangeFeed may publish what can be read.
  const std::string& no_ranges() const { return no_ranges_; }
  // Why pads make no system calls, so that what they do not know how to read is a fault; empty: they may.
  const std::string& no_calls() const { return no_calls_; }

  // A seccomp filter that is there already.
  void note_filter(bool is_filtered);
  // The threads have no restartable sequences.
  void note_no_sequences();
  void note_no_barrier();
  // Calls that no patch leads into a pad.
  void note_unpatched(const PatchTable& table);
  // A patch that will not be in the text.
  void note_missing(const Patch& patch);
  // Fibers that wait at one of the calls, and will make it some time.
  void note_parked(const ParkedCode& parked);

  // A window whose pad goes on in one of these calls' pads.
  bool goes_on_in(const x86::Rewrite& rewrite) const;
  // A window that a clone-like call is watched by.
  bool guards_clone(const Patch& patch) const;
  // The instructions of calls(), sorted.
  std::vector<AddrRange> call_instructions() const;

  // Whether every way to make a child that shares its parent's thread area will be watched: the sites hold
  // what the file says.
  Result<bool> clones_intact(const proc::Memory& memory) const;
  // A thread, or a signal handler when it returns, is about to make such a child.
  bool any_before_clone(StoppedCode& code) const;
  // True: later, when nobody is about to make one of the calls. On the last try they count as not seen.
  bool any_before_call(StoppedCode& code, std::span<const InterruptedCode> interrupted, bool last_try);

 private:
  void give_up(const x86::SyscallSite& site);

  const proc::Process& process_;
  std::span<const Module> modules_;
  std::vector<x86::SyscallSite> clones_;
  std::vector<x86::SyscallSite> calls_;
  bool unseen_children_;
  std::string no_ranges_, no_calls_;
};

// Whether a thread runs under a seccomp filter, or may.
bool any_filtered(proc::Attachment& attachment);

}  // namespace blip::probe
