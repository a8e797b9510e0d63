// SPDX-License-Identifier: MIT
#include "x86/ladder.h"

#include <fmt/format.h>

#include <algorithm>

#include "x86/relocate.h"

namespace blip::x86 {

Ladder::Ladder(const CodeMap& map, const RunOptions& options, TrampolineSpace& space)
    : map_(map),
      options_(options),
      runs_(map, options),
      tactics_(map, runs_, trampoline_reach({map.base(), map.base() + map.size()})),
      space_(space) {}

std::string Ladder::refusal_of(TargetAddr point) const {
  if (map_.length(point) == 0) return "no instruction is known to begin there";
  if (!map_.is_reached(point)) return "no path seen leads there: it may be data";
  const auto insn = decode(map_.bytes_from(point), point);
  if (insn) {
    if (const auto why = immovable(*insn)) return fmt::format("{} ({})", *why, insn->mnemonic);
  }
  if (insn && insn->is_endbr64) return "it marks a target of indirect jumps";
  if (map_.is_system_call(point) && map_.is_entry(point))
    return "a system call stays in its place, and this one is entered from elsewhere too";
  if (map_.is_pinned(point)) return "another instruction begins inside it, or blip watches it itself";
  if (options_.shadow_stack && map_.is_call(point)) return "call in a process with shadow stacks";
  if (!runs_.is_movable(point)) return "it may fault, and the program handles such faults itself";
  return "";
}

std::string Ladder::no_room(const Run& run) const {
  const bool one = run.owned() == 1;
  return fmt::format("its {} byte{} no room for a jump, and none of {} size leads to free memory",
                     run.owned(), one ? " leaves" : "s leave", one ? "its" : "their");
}

Verdict Ladder::alone(TargetAddr point) const {
  const TargetAddr carrier = map_.carrier_of(point);
  if (auto why = refusal_of(carrier); !why.empty()) return {.refusal = why};
  const Run run = runs_.around(carrier);
  const auto offset = static_cast<uint8_t>(point - run.start);
  if (run.fits_jump()) return {.offset = offset, .step = offset ? Step::kUpstream : tactics_.near(run).step};
  const auto proposal = tactics_.find(run, space_);
  if (!proposal) return {.refusal = no_room(run)};
  return {.offset = offset, .step = proposal->rewrite.step};
}

// Those with room first: what they leave unused is room for the others. The others from high addresses to
// low ones: a pun needs to know the bytes behind it.
void Ladder::place(std::span<const Run> runs, bool near_only) {
  for (const Run& run : runs)
    if (run.fits_jump()) tactics_.commit(tactics_.near(run));
  for (auto run = runs.rbegin(); !near_only && run != runs.rend(); ++run) {
    if (run->fits_jump() || tactics_.state().is_taken(run->start)) continue;
    if (const auto proposal = tactics_.find(*run, space_)) tactics_.commit(*proposal, space_);
  }
}

// Makes traps for instructions that no other change touches. Only the first byte of the instruction changes:
// others may rely on the rest.
std::vector<Rewrite> Ladder::traps_for(std::span<const TargetAddr> points) const {
  std::vector<Rewrite> traps;
  for (const TargetAddr point : points) {
    const auto length = static_cast<uint8_t>(map_.length(point));
    bool is_free = !tactics_.state().is_locked(point);
    for (TargetAddr a = point; a < point + length; a = a + 1) is_free &= !tactics_.state().is_taken(a);
    if (is_free) traps.push_back({.start = point, .length = length, .step = Step::kTrap});
  }
  return traps;
}

LadderPlan Ladder::plan(std::span<const TargetAddr> points, bool near_only, TrapUse traps) {
  LadderPlan plan{.rewrites = {}, .verdicts = std::vector<Verdict>(points.size())};
  std::vector<TargetAddr> wanted;
  for (size_t i = 0; i < points.size(); ++i) {
    std::string& refusal = plan.verdicts[i].refusal;
    const TargetAddr carrier = map_.carrier_of(points[i]);
    refusal = tactics_.state().is_taken(carrier) ? "it is inside the bytes another probe replaces"
                                                 : refusal_of(carrier);
    if (refusal.empty()) wanted.push_back(carrier);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<Run> runs = runs_.covering(wanted);
  std::erase_if(runs, [&](const Run& run) {
    for (TargetAddr a = run.start; a < run.end + run.padding; a = a + 1)
      if (tactics_.state().is_taken(a)) return true;
    return false;
  });
  if (!near_only) runs_.close_gaps(runs, [&](TargetAddr a) { return tactics_.state().is_taken(a); });
  if (traps != TrapUse::kAlways) place(runs, near_only);
  plan.rewrites = tactics_.take_rewrites();
  if (traps != TrapUse::kNever) {
    const std::vector<Rewrite> more = traps_for(wanted);
    plan.rewrites.insert(plan.rewrites.end(), more.begin(), more.end());
  }
  std::sort(plan.rewrites.begin(), plan.rewrites.end(),
            [](const Rewrite& a, const Rewrite& b) { return a.start < b.start; });
  for (size_t i = 0; i < points.size(); ++i) {
    Verdict& verdict = plan.verdicts[i];
    if (!verdict.refusal.empty()) continue;
    const TargetAddr carrier = map_.carrier_of(points[i]);
    auto next = std::upper_bound(plan.rewrites.begin(), plan.rewrites.end(), carrier,
                                 [](TargetAddr a, const Rewrite& r) { return a < r.start; });
    if (next == plan.rewrites.begin() || carrier >= (next - 1)->start + (next - 1)->length) {
      verdict.refusal = no_room(runs_.around(carrier));
      verdict.lacks_room = true;
      continue;
    }
    --next;
    verdict.rewrite = static_cast<size_t>(next - plan.rewrites.begin());
    verdict.offset = static_cast<uint8_t>(points[i] - next->start);
    verdict.step =
        verdict.offset && next->rank == 0 && next->entry == TargetAddr() ? Step::kUpstream : next->step;
  }
  return plan;
}

AddrRange trampoline_reach(AddrRange code) {
  constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{128} << 20);
  return {TargetAddr(code.end.value > kReach ? code.end.value - kReach : 0), code.begin + kReach};
}

}  // namespace blip::x86
