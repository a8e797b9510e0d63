// SPDX-License-Identifier: MIT
#include "probe/code/function_entries.h"

#include <algorithm>

#include "elf/rseq_sections.h"
#include "x86/branch_scan.h"

namespace blip::probe {

namespace {

constexpr size_t kNested = 64;
constexpr uint64_t kShortReach = 130;  // an instruction and a byte's distance

// Functions by the addresses in them. They may overlap.
class FunctionIndex {
 public:
  explicit FunctionIndex(std::span<const AddrRange> functions) : functions_(functions) {
    TargetAddr furthest;
    for (const AddrRange& f : functions) furthest_.push_back(furthest = std::max(furthest, f.end));
  }

  // True if a function that holds the address, but does not begin there, fulfils the condition. Also true
  // where too many may hold it: one entry too many does no harm.
  template <typename Condition>
  bool any_around(TargetAddr at, Condition condition) const {
    const auto next = std::lower_bound(functions_.begin(), functions_.end(), at,
                                       [](const AddrRange& f, TargetAddr a) { return f.begin < a; });
    const auto count = static_cast<size_t>(next - functions_.begin());
    for (size_t i = count; i-- > 0 && at < furthest_[i];)
      if (count - i > kNested || (functions_[i].contains(at) && condition(functions_[i]))) return true;
    return false;
  }

 private:
  std::span<const AddrRange> functions_;
  std::vector<TargetAddr> furthest_;  // end of functions_[0] to [i]
};

}  // namespace

FunctionEntries::FunctionEntries(const Module& module, const FunctionRanges& ranges,
                                 std::span<const AddrRange> functions) {
  const IndirectEntries indirect = IndirectEntries::of(module.file());
  const FunctionIndex index(functions);
  const auto add = [&](TargetAddr a, std::vector<TargetAddr>& to) {
    if (index.any_around(a, [](const AddrRange&) { return true; })) to.push_back(a);
  };
  for (const auto* addresses : {&indirect.landing_pads, &indirect.pointers, &indirect.cases})
    for (const FileAddr a : *addresses) add(module.to_target(a), guessed_);
  for (const elf::RseqSection& s : elf::rseq_sections(module.file()))
    add(module.to_target(s.abort), certain_);
  for (const TargetAddr start : ranges.starts) add(start, certain_);
  add_branches(module, ranges, functions);
  std::sort(certain_.begin(), certain_.end());
  std::sort(guessed_.begin(), guessed_.end());
}

void FunctionEntries::add_branches(const Module& module, const FunctionRanges& ranges,
                                   std::span<const AddrRange> functions) {
  const FunctionIndex index(functions);
  const x86::BranchFilter comes_in = [&](const x86::Branch& branch) {
    return index.any_around(branch.target, [&](const AddrRange& f) { return !f.contains(branch.opcode); });
  };
  const auto take = [&](const std::vector<x86::Branch>& branches) {
    for (const x86::Branch& branch : branches) certain_.push_back(branch.target);
  };
  for (const elf::Segment& s : module.file().segments()) {
    if (!s.exec) continue;
    const auto text = module.file().bytes(s.range);
    const TargetAddr base = module.to_target(s.range.begin);
    take(x86::near_branches(text, base, ranges.starts, comes_in));
    for (const AddrRange& f : functions) {
      const TargetAddr low(f.begin.value - std::min(f.begin.value, kShortReach));
      take(x86::short_branches(text, base, ranges.starts, {low, f.begin}, comes_in));
      take(x86::short_branches(text, base, ranges.starts, {f.end, f.end + kShortReach}, comes_in));
    }
  }
}

x86::OutsideEntries FunctionEntries::of(AddrRange function) const {
  const auto inside = [&](const std::vector<TargetAddr>& all) -> std::span<const TargetAddr> {
    const auto first = std::upper_bound(all.begin(), all.end(), function.begin);
    return {first, std::lower_bound(first, all.end(), function.end)};
  };
  return {inside(certain_), inside(guessed_)};
}

}  // namespace blip::probe
