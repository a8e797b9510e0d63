// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/page.h"
#include "x86/code_map.h"

namespace blip::x86 {

// Instructions that are moved together: only the first may be arrived at from elsewhere, only the last may be
// a call, a system call or leave for good.
struct Run {
  TargetAddr start;
  TargetAddr end;
  uint8_t padding = 0;  // bytes behind a run that ends the flow, which nobody executes

  uint64_t size() const { return end - start; }
  // Bytes from start on that may be changed, in one write: none on the next page.
  uint64_t owned() const { return std::min(size() + padding, kPageSize - start.value % kPageSize); }
  bool fits_jump() const { return owned() >= kJumpLength; }
};

struct RunOptions {
  bool singles_only = false;  // a thread may be parked at any instruction, out of sight: no run of several
  // Instructions that may fault stay where they are: those that touch memory, and those that compute.
  bool faults_matter = false;
  bool overflows_matter = false;
  bool shadow_stack = false;  // calls cannot be imitated: they stay too
};

// Chooses which instructions to move so that those asked for are among them.
class RunFinder {
 public:
  RunFinder(const CodeMap& map, const RunOptions& options) : map_(map), options_(options) {}

  bool is_movable(TargetAddr a) const {
    return !map_.is_pinned(a) && !(options_.faults_matter && map_.may_fault(a)) &&
           !(options_.overflows_matter && map_.may_overflow(a)) &&
           !(options_.shadow_stack && map_.is_call(a));
  }
  // The run for one instruction: itself; with its successors, if that makes room for a jump; with those
  // before it. Otherwise the longest there is.
  Run around(TargetAddr point) const;
  // From `start` on, until it has `wanted` bytes or cannot go on.
  Run forward(TargetAddr start, uint64_t wanted) const;
  // Runs that hold all of the points (sorted), none overlapping. Points next to each other share one.
  std::vector<Run> covering(std::span<const TargetAddr> points) const;
  // Some runs allow only a single byte to be changed (a ret that is jumped to). If the next run begins a
  // little later, it is made to begin right behind: its jump can then be chosen to complete the one of the
  // byte. Bytes that are taken are left alone.
  void close_gaps(std::span<Run> runs, const std::function<bool(TargetAddr)>& is_taken) const;

 private:
  bool joins(TargetAddr a, TargetAddr b) const {
    return !options_.singles_only && map_.joins(a, b) && is_movable(b);
  }
  bool is_continued(const Run& run, const Run& next) const;

  const CodeMap& map_;
  RunOptions options_;
};

}  // namespace blip::x86
