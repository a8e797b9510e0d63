// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "jit/program/action.h"
#include "probe/patch/pads.h"

namespace blip::probe {

// The probes of a trace by their numbers. Of those that are armed no more is kept than what pads that come
// later must know of them.
class TraceProbes {
 public:
  // Room for more that may come later.
  struct Spare {
    uint32_t count = 0;
    bool asks_kernel = true;  // they may record the thread, or read memory
  };

  TraceProbes(std::vector<Probe> probes, Spare spare);

  // Probes that are to be armed now get the next numbers.
  void add(std::vector<Probe> probes);
  // Those that were to be armed are, or are refused: their programs are in their pads.
  void settle();

  size_t count() const { return first_fresh_ + fresh_.size(); }
  // The number of the first one that is being armed.
  size_t first_fresh() const { return first_fresh_; }
  ProbeList fresh() const { return {fresh_, first_fresh_}; }
  const Spare& spare() const { return spare_; }

  // A probe was switched off for good.
  void remove(size_t number) { removed_.insert(number); }
  const std::set<size_t>& removed() const { return removed_; }
  // All probes, armed or not, that are in a group together with one of these.
  std::vector<size_t> group_members(const std::set<size_t>& numbers) const;

  // What any of them needs, or may need: the kernel, for the thread's id, to read memory, or to wait for
  // blip; values collected.
  bool ask_kernel() const;
  bool collect() const;
  // Classes have lower numbers: those of probes that are being armed.
  uint32_t classes() const;
  // What they record.
  jit::Recorded recorded() const;

 private:
  std::vector<Probe> fresh_;
  size_t first_fresh_ = 0;
  std::vector<size_t> groups_;  // of all probes
  Spare spare_;
  std::set<size_t> removed_;
  jit::Recorded settled_record_;
  bool settled_ask_kernel_ = false;
};

}  // namespace blip::probe
