// SPDX-License-Identifier: MIT
// See docs/design/patch_plan.md for the rules and why they suffice.
#include "probe/patch/plan.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/progress.h"
#include "elf/dynamic.h"
#include "probe/code/every_instruction.h"
#include "probe/code/function_rules.h"
#include "probe/code/module_code.h"
#include "probe/code/trap_sites.h"
#include "x86/flow/go_stack_check.h"
#include "x86/flow/liveness.h"
#include "x86/flow/self_branch.h"
#include "x86/ladder.h"
#include "x86/limits.h"

namespace blip::probe {

namespace {

constexpr size_t kFunctionsPerPiece = 64;
constexpr uint64_t kFirstBytes = 24;  // of a function: endbr64 and the longest window of its entry
constexpr uint64_t kMostAhead = 16;   // bytes of instructions that stay in place before an entry's probe

class PointPlanner {
 public:
  PointPlanner(const Module& module, std::span<const Point> points, const PlanOptions& options)
      : module_(module),
        points_(points),
        options_(options),
        is_go_(module.file().is_go()),
        rules_(module, points),
        addresses_(points.size()),
        carriers_(points.size()),
        leads_(points.size()),
        is_behind_(points.size()),
        shown_(shown_at(points, options)) {
    if (options.traps != x86::TrapUse::kNever) no_traps_ = no_traps_in(module);
    if (no_traps_.empty() && options.shadow_stack) no_traps_ = "traps cannot be used with shadow stacks";
    if (no_traps_.empty()) traps_ = options.traps;
    plan_.probes.resize(points.size());
  }

  // Most entries need no tactics, and for those the first bytes of their functions tell enough.
  ModulePlan run(x86::TrampolineSpace& space) {
    for (size_t i = 0; i < points_.size(); ++i) locate(i);
    const bool only_traps = options_.traps == x86::TrapUse::kAlways;
    std::vector<size_t> left = not_refused();
    if (left.empty()) return std::move(plan_);
    const FunctionRanges ranges = FunctionRanges::of(module_);
    IndirectEntries entries;
    if (!only_traps && std::all_of(left.begin(), left.end(), [&](size_t i) { return points_[i].is_entry; })) {
      const bool simple = are_simple(left);
      if (!simple) entries = IndirectEntries::of(module_.file());
      const ModuleCode code(module_, ranges, functions_of(left, first_bytes()), simple ? nullptr : &entries);
      accept_faults(code, left);
      place(code, left, space, true);
    } else {
      entries = IndirectEntries::of(module_.file());
    }
    if (!left.empty()) {
      const ModuleCode code(module_, ranges, ranges.around(functions_of(left, UINT64_MAX)), &entries);
      accept_faults(code, left);
      place(code, left, space, false);
    }
    make_sites();
    describe_all();
    return std::move(plan_);
  }

 private:
  // By point. What no longer stays in place for one of them stays for none: those of a call, which is
  // remembered once, must find it at one place.
  static std::vector<x86::Shown> shown_at(std::span<const Point> points, const PlanOptions& options) {
    std::map<FileAddr, x86::Shown> together;
    for (const Point& point : points)
      if (point.is_entry && options.accept_faults)
        together.try_emplace(point.addr, x86::Shown::nothing()).first->second |= point.shown;
    std::vector<x86::Shown> shown;
    shown.reserve(points.size());
    for (const Point& point : points) {
      const auto found = together.find(point.addr);
      shown.push_back(found != together.end() && point.is_entry ? found->second : point.shown);
    }
    return shown;
  }

  // Sets the address that will be probed for point i, or refuses it.
  void locate(size_t i) {
    const Point& point = points_[i];
    PlannedProbe& probe = plan_.probes[i];
    addresses_[i] = module_.to_target(point.addr);
    probe.refusal = rules_.refusal_of(point);
    if (!probe.refused() && options_.traps == x86::TrapUse::kAlways) probe.refusal = no_traps_;
    if (probe.refused()) return;
    const auto bytes = module_.file().bytes({point.addr, point.function.addr + point.function.size});
    const auto insn = x86::decode(bytes, addresses_[i]);
    // It marks a target of indirect jumps and stays; what follows it runs next.
    const bool marked = insn && insn->is_endbr64;
    if (marked) addresses_[i] = insn->end();
    const bool checks_stack = is_go_ && point.is_entry && x86::go_stack_check(bytes.subspan(marked ? 4 : 0));
    if (checks_stack) leads_[i] = true;
    if (!checks_stack && rules_.runs_on_little_stack(point.function))
      probe.refusal = "it may run on the last bytes of a goroutine's stack, where a pad has no room";
  }

  std::vector<size_t> not_refused() const {
    std::vector<size_t> indices;
    for (size_t i = 0; i < points_.size(); ++i)
      if (!plan_.probes[i].refused()) indices.push_back(i);
    return indices;
  }

  // The functions of these points, or their first bytes; sorted.
  std::vector<AddrRange> functions_of(std::span<const size_t> indices, uint64_t most) const {
    std::vector<AddrRange> functions;
    for (const size_t i : indices) {
      const elf::Function& f = points_[i].function;
      const TargetAddr start = module_.to_target(f.addr);
      functions.push_back({start, start + std::min(f.size, most)});
    }
    std::sort(functions.begin(), functions.end());
    const auto same_start = [](const AddrRange& a, const AddrRange& b) { return a.begin == b.begin; };
    functions.erase(std::unique(functions.begin(), functions.end(), same_start), functions.end());
    return functions;
  }

  bool something_stays() const { return options_.faults_matter || options_.overflows_matter; }
  uint64_t first_bytes() const {
    return kFirstBytes + (something_stays() ? kMostAhead + x86::kMaxInsnLength : 0);
  }

  // True if each of them is one instruction with room for a jump.
  bool are_simple(std::span<const size_t> indices) const {
    return !something_stays() && std::all_of(indices.begin(), indices.end(), [&](size_t i) {
      const TargetAddr at = addresses_[i];
      const auto insn = x86::decode(
          module_.file().bytes({module_.to_file(at), module_.to_file(at + x86::kMaxInsnLength)}), at);
      return !leads_[i] && insn && x86::Run{at, insn->end()}.fits_jump();
    });
  }

  // Where the first instructions must stay, the probe stands behind them if nothing it shows could tell.
  void go_behind(const x86::CodeMap& map, size_t i) {
    const Point& point = points_[i];
    if (!point.is_entry || is_go_ || leads_[i]) return;
    TargetAddr at = addresses_[i];
    while (stays(map, at) && at < addresses_[i] + kMostAhead) {
      const auto insn = x86::decode(map.bytes_from(at), at);
      const TargetAddr next = at + map.length(at);
      if (!insn || !x86::may_stay_ahead(*insn, shown_[i]) || map.is_pinned(at) || map.is_pinned(next) ||
          map.length(next) == 0 || map.is_entry(next))
        return;
      at = next;
    }
    if (stays(map, at) || at == addresses_[i]) return;
    addresses_[i] = at;
    is_behind_[i] = true;
  }

  bool stays(const x86::CodeMap& map, TargetAddr a) const {
    return (options_.faults_matter && map.may_fault(a)) || (options_.overflows_matter && map.may_overflow(a));
  }

  // Instructions that may fault may be moved if the user said so, with those that a jump in their place takes
  // along.
  void accept_faults(const ModuleCode& code, std::span<const size_t> left) {
    if (!options_.accept_faults || is_go_) return;
    for (const auto& segment : code.segments()) {
      for (const size_t i : left) {
        if (!segment->contains(addresses_[i])) continue;
        go_behind(*segment, i);
        const TargetAddr first = segment->carrier_of(addresses_[i]);
        if (!release(*segment, first)) continue;
        plan_.probes[i].moves_fault = true;
        for (TargetAddr a = first; a + segment->length(a) < first + x86::kJumpLength;) {
          const TargetAddr next = a + segment->length(a);
          if (!segment->joins(a, next)) break;
          release(*segment, next);
          a = next;
        }
      }
    }
  }

  bool release(x86::CodeMap& map, TargetAddr a) const {
    return map.release(a, options_.faults_matter, options_.overflows_matter);
  }

  // Finds rewrites for the points in `left` and takes those that have one, or never will, off it.
  void place(const ModuleCode& code, std::vector<size_t>& left, x86::TrampolineSpace& space, bool near_only) {
    std::vector<x86::Rewrite> rewrites;
    std::vector<size_t> still_left;
    for (const auto& segment : code.segments()) {
      const x86::LadderPlan plan = place_in(*segment, left, still_left, space, near_only);
      rewrites.insert(rewrites.end(), plan.rewrites.begin(), plan.rewrites.end());
    }
    rewrites_ = std::move(rewrites);
    left = std::move(still_left);
  }

  x86::LadderPlan place_in(const x86::CodeMap& map, std::span<const size_t> left,
                           std::vector<size_t>& still_left, x86::TrampolineSpace& space, bool near_only) {
    x86::Ladder ladder(map,
                       {.singles_only = is_go_,
                        .faults_matter = options_.faults_matter || is_go_,
                        .overflows_matter = options_.overflows_matter || is_go_,
                        .shadow_stack = options_.shadow_stack},
                       space);
    for (const x86::Rewrite& rewrite : rewrites_)
      if (map.contains(rewrite.start)) ladder.reserve(rewrite);
    std::vector<size_t> mine;
    std::vector<TargetAddr> wanted;
    for (const size_t i : left) {
      if (!map.contains(addresses_[i])) continue;
      go_behind(map, i);
      if (is_marked(i) && !points_[i].is_entry && map.is_entry(addresses_[i])) {
        plan_.probes[i].refusal =
            "it marks a target of indirect jumps, and what follows is entered from elsewhere too";
      } else if (leads_[i]) {
        reserve_stack_check(i, ladder, map);
      } else {
        mine.push_back(i);
        wanted.push_back(addresses_[i]);
        carriers_[i] = map.carrier_of(addresses_[i]);
      }
    }
    x86::LadderPlan plan = ladder.plan(wanted, near_only, near_only ? x86::TrapUse::kNever : traps_);
    for (size_t k = 0; k < mine.size(); ++k) {
      const x86::Verdict& verdict = plan.verdicts[k];
      if (near_only && verdict.lacks_room) {
        still_left.push_back(mine[k]);
        continue;
      }
      plan_.probes[mine[k]].refusal = verdict.refusal;
      plan_.probes[mine[k]].step = verdict.step;
    }
    return plan;
  }

  // Sites from rewrites, and which of them each probe is in.
  void make_sites() {
    std::sort(rewrites_.begin(), rewrites_.end(),
              [](const x86::Rewrite& a, const x86::Rewrite& b) { return a.start < b.start; });
    plan_.sites.reserve(rewrites_.size());
    for (const x86::Rewrite& rewrite : rewrites_) plan_.sites.push_back(site_of(rewrite, rewrites_));
    for (size_t i = 0; i < points_.size(); ++i) {
      PlannedProbe& probe = plan_.probes[i];
      if (probe.refused()) continue;
      const TargetAddr carrier = carriers_[i] != TargetAddr() ? carriers_[i] : addresses_[i];
      const auto next = std::upper_bound(rewrites_.begin(), rewrites_.end(), carrier,
                                         [](TargetAddr a, const x86::Rewrite& r) { return a < r.start; });
      if (next == rewrites_.begin() || carrier >= (next - 1)->start + (next - 1)->length) {
        probe.refusal = "it is no code of the module";
        continue;
      }
      probe.site = static_cast<size_t>(next - rewrites_.begin()) - 1;
      probe.offset = static_cast<uint8_t>(addresses_[i] - (next - 1)->start);
      if (leads_[i]) probe.step = (next - 1)->step;
    }
  }

  bool is_marked(size_t i) const { return addresses_[i] != module_.to_target(points_[i].addr); }

  // The whole check runs before the program; see docs/design/patch_plan.md, "Go".
  void reserve_stack_check(size_t i, x86::Ladder& ladder, const x86::CodeMap& map) {
    const auto check = x86::go_stack_check(map.bytes_from(addresses_[i]));
    const x86::Run run{addresses_[i], addresses_[i] + check->replaceable};
    const bool whole = check->replaceable == check->length;
    bool is_free = run.fits_jump();
    for (TargetAddr a = run.start + 1; whole && a < run.end; a = a + 1) is_free &= !map.is_entry(a);
    if (!is_free) {
      plan_.probes[i].refusal = "its stack check leaves no room for a jump";
      return;
    }
    ladder.reserve({.start = run.start,
                    .length = check->replaceable,
                    .step = whole ? x86::Step::kWindow : x86::Step::kSingle,
                    .lead = check->length});
  }

  std::vector<uint8_t> bytes_at(TargetAddr begin, TargetAddr end) const {
    const auto bytes = module_.file().bytes({module_.to_file(begin), module_.to_file(end)});
    return {bytes.begin(), bytes.end()};
  }

  Site site_of(const x86::Rewrite& rewrite, std::span<const x86::Rewrite> sorted) const {
    Site site{.rewrite = rewrite,
              .bytes = bytes_at(rewrite.start, rewrite.end()),
              .springboard_bytes = {},
              .lead = bytes_at(rewrite.start, rewrite.start + rewrite.lead)};
    if (rewrite.springboard == TargetAddr()) return site;
    auto next = std::upper_bound(sorted.begin(), sorted.end(), rewrite.springboard,
                                 [](TargetAddr a, const x86::Rewrite& r) { return a < r.start; });
    const bool in_other = next != sorted.begin() && rewrite.springboard < (next - 1)->end();
    if (!in_other)
      site.springboard_bytes = bytes_at(rewrite.springboard, rewrite.springboard + x86::kJumpLength);
    return site;
  }

  // Finds what pads have to save, function by function, so that each is decoded once.
  void describe_all() {
    if (options_.verdict_only) return;
    std::vector<size_t> order;
    for (size_t i = 0; i < points_.size(); ++i)
      if (!plan_.probes[i].refused()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return points_[a].function.addr < points_[b].function.addr; });
    std::vector<size_t> groups;
    for (size_t k = 0; k < order.size(); ++k)
      if (k == 0 || points_[order[k]].function.addr != points_[order[k - 1]].function.addr)
        groups.push_back(k);
    groups.push_back(order.size());
    parallel_pieces(groups.size() - 1, kFunctionsPerPiece, [&](size_t begin, size_t end) {
      for (size_t g = begin; g < end; ++g)
        describe(std::span(order).subspan(groups[g], groups[g + 1] - groups[g]));
    });
  }

  // Points of one function.
  void describe(std::span<const size_t> mine) {
    constexpr size_t kFew = 4;
    const elf::Function& f = points_[mine.front()].function;
    const auto bytes = module_.file().bytes(f.range());
    const TargetAddr start = module_.to_target(f.addr);
    std::vector<x86::Insn> insns;
    std::vector<x86::Liveness> live;
    const bool is_too_large = bytes.size() > x86::kMostFunctionCode;
    if (mine.size() > kFew && !is_too_large) {
      insns = decode_all(bytes, start);
      live = x86::live_at_each(insns, x86::LivenessRule::kInside);
    }
    for (const size_t i : mine) {
      PlannedProbe& probe = plan_.probes[i];
      const TargetAddr at = addresses_[i];
      // A nameless one may be a cold part.
      const bool is_called = points_[i].is_entry && !f.is_nameless && !is_behind_[i];
      probe.skip_red_zone =
          !is_go_ && (!is_called || is_too_large || x86::has_self_branch(bytes, start, at));  // Go has none
      const auto known = std::lower_bound(insns.begin(), insns.end(), at,
                                          [](const x86::Insn& insn, TargetAddr a) { return insn.addr < a; });
      x86::Liveness here;
      if (leads_[i]) {
        here.flags = 0;  // the check has just used them
      } else if (known != insns.end() && known->addr == at && !is_called) {
        here = live[static_cast<size_t>(known - insns.begin())];
      } else {  // flags alone are found out much faster, and matter most
        const auto rule = is_called ? x86::LivenessRule::kEntry : x86::LivenessRule::kInside;
        here.flags = x86::flags_live(bytes, start, at, rule) ? x86::kStatusFlags : 0;
      }
      probe.flags_live = here.flags != 0;
      probe.live_registers = here.registers;
    }
  }

  const Module& module_;
  std::span<const Point> points_;
  const PlanOptions& options_;
  bool is_go_;
  FunctionRules rules_;
  std::string no_traps_;  // why there may be none in this module
  x86::TrapUse traps_ = x86::TrapUse::kNever;
  std::vector<TargetAddr> addresses_;  // what is probed for each point
  std::vector<TargetAddr> carriers_;   // what is moved for it (CodeMap::carrier_of)
  std::vector<char> leads_;            // the point is a Go function that checks its stack
  std::vector<char> is_behind_;        // the first instructions of the point's function stay in place
  std::vector<x86::Shown> shown_;
  std::vector<x86::Rewrite> rewrites_;
  ModulePlan plan_;
};

}  // namespace

ModulePlan plan_points(const Module& module, std::span<const Point> points, const PlanOptions& options,
                       x86::TrampolineSpace& space) {
  const progress::Step step(fmt::format("planning {} probes in {}", points.size(), module.basename()));
  return PointPlanner(module, points, options).run(space);
}

bool loads_as_program(const Module& module) {
  return module.is_executable() && !elf::dynamic_value(module.file(), DT_SONAME);
}

x86::TrampolineSpace assumed_space(const Module& module) {
  constexpr TargetAddr kLowest(0x10000), kHighest(0x7ffffffff000);
  constexpr uint64_t kHeap = 256 << 20;
  const AddrRange extent = module.extent();
  const auto page = [](TargetAddr a) { return TargetAddr(a.value & ~uint64_t{0xfff}); };
  std::vector<AddrRange> free;
  if (page(extent.begin) > kLowest) free.push_back({kLowest, page(extent.begin)});
  free.push_back({page(extent.end + 0xfff) + (loads_as_program(module) ? kHeap : 0), kHighest});
  return x86::TrampolineSpace(std::move(free), kMaxTrampolinePages);
}

}  // namespace blip::probe
