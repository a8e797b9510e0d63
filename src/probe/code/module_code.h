// SPDX-License-Identifier: MIT
// A module's code as the planner sees it: symbols, unwind tables, data and the code itself, put together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/addr.h"
#include "elf/rseq_sections.h"
#include "probe/code/module.h"
#include "x86/code_map.h"

namespace blip::probe {

// The begins and ends of functions, by symbols and unwind tables; sorted, one per start.
struct FunctionRanges {
  std::vector<TargetAddr> starts;
  std::vector<TargetAddr> ends;  // of starts[i]

  static FunctionRanges of(const Module& module);
  // Those that overlap one of `wanted` (sorted) or lie within the reach of a short jump from one.
  std::vector<AddrRange> around(std::span<const AddrRange> wanted) const;
};

// Addresses that data of the file leads to.
struct IndirectEntries {
  std::vector<FileAddr> landing_pads, pointers, cases;

  static IndirectEntries of(const elf::ElfFile& file);
};

class ModuleCode {
 public:
  // Knows the given functions, or parts of them (sorted run-time ranges). Without `entries` only what they
  // themselves show is known: enough for instructions that have room for a jump by themselves.
  ModuleCode(const Module& module, const FunctionRanges& ranges, std::span<const AddrRange> functions,
             const IndirectEntries* entries);

  std::span<const std::unique_ptr<x86::CodeMap>> segments() const { return segments_; }

 private:
  void find_branches(const FunctionRanges& ranges);
  void find_indirect_entries(const IndirectEntries& entries);
  void find_computed_labels();
  void watch_clone_sites();
  std::function<void()> forget_pages() const;
  void pin_known_faults();

  const Module& module_;
  std::vector<std::unique_ptr<x86::CodeMap>> segments_;
};

}  // namespace blip::probe
