// SPDX-License-Identifier: MIT
// The rules of docs/design/patch_plan.md, checked on a copy of the text after each single write: what has not
// been moved stands unchanged, what has been moved leads to its pad, and nobody arrives inside it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probe/patch/edits.h"
#include "x86/decode.h"
#include "x86/ladder.h"

namespace blip::probe {

class PlanRules {
 public:
  PlanRules(std::span<const uint8_t> text, const x86::CodeMap& map, const x86::LadderPlan& plan)
      : map_(map), plan_(plan), original_(text), text_(text.begin(), text.end()) {}

  // Which rule is broken, and where; empty: none is.
  std::string broken() {
    if (auto why = arrivals(); !why.empty()) return why;
    std::vector<std::pair<Edit, size_t>> edits;  // and the rewrite each belongs to
    for (size_t i = 0; i < plan_.rewrites.size(); ++i) {
      const auto mine = edits_of(i);
      if (!mine) return fmt::format("{:#x}: {}", plan_.rewrites[i].start.value, mine.error().message());
      for (const Edit& edit : *mine) edits.emplace_back(edit, i);
    }
    std::stable_sort(edits.begin(), edits.end(),
                     [](const auto& a, const auto& b) { return a.first.order < b.first.order; });
    for (const auto& [edit, rewrite] : edits)
      if (auto why = write(edit, rewrite); !why.empty()) return why;
    return "";
  }

 private:
  TargetAddr pad_of(size_t i) const { return map_.base() + (64 << 20) + 256 * i; }
  std::span<uint8_t> at(TargetAddr a) { return std::span(text_).subspan(a - map_.base()); }
  const x86::Rewrite* holder_of(TargetAddr a) const {
    for (const x86::Rewrite& r : plan_.rewrites)
      if (a >= r.start && a < r.end()) return &r;
    return nullptr;
  }
  std::vector<uint8_t> bytes(TargetAddr begin, TargetAddr end) const {
    const auto part = original_.subspan(begin - map_.base());
    return {part.begin(),
            part.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(end - begin, part.size()))};
  }
  Site site_of(const x86::Rewrite& r) const {
    Site site{.rewrite = r, .bytes = bytes(r.start, r.end()), .springboard_bytes = {}, .lead = {}};
    if (r.springboard != TargetAddr() && !holder_of(r.springboard))
      site.springboard_bytes = bytes(r.springboard, r.springboard + x86::kJumpLength);
    return site;
  }

  std::string arrivals() const {
    for (const x86::Rewrite& r : plan_.rewrites) {
      for (TargetAddr a = r.start + 1; a < r.end(); a = a + 1)
        if (map_.is_entry(a)) return fmt::format("{:#x}: {:#x} in it is entered", r.start.value, a.value);
      if (const x86::Rewrite* other = holder_of(r.start); other != &r)
        return fmt::format("{:#x}: lies in another", r.start.value);
    }
    return "";
  }

  Result<std::vector<Edit>> edits_of(size_t i) const {
    const x86::Rewrite& r = plan_.rewrites[i];
    const x86::Rewrite* host = r.springboard != TargetAddr() ? holder_of(r.springboard) : nullptr;
    const Site host_site = host ? site_of(*host) : Site();
    return site_edits(site_of(r), pad_of(i), host ? &host_site : nullptr);
  }

  std::string write(const Edit& edit, size_t rewrite) {
    const auto place = at(edit.addr).first(edit.size);
    if (!std::equal(place.begin(), place.end(), edit.original.begin()))
      return fmt::format("{:#x}: somebody else has changed it", edit.addr.value);
    std::copy_n(edit.changed.begin(), edit.size, place.begin());
    if (edit.window != 0) in_place_.push_back(rewrite);
    if (auto why = unmoved(); !why.empty()) return why;
    for (const size_t i : in_place_)
      if (leads_to(plan_.rewrites[i].start) != goal_of(i))
        return fmt::format("{:#x}: leads astray\n{}", plan_.rewrites[i].start.value, described());
    return "";
  }

  std::string described() const {
    std::string all;
    for (const x86::Rewrite& r : plan_.rewrites)
      all += fmt::format("{:#x} +{} +{} step {} prefixes {} entry {:#x} springboard {:#x} rank {}\n",
                         r.start.value, r.length, r.padding, static_cast<int>(r.step), r.prefixes,
                         r.entry.value, r.springboard.value, r.rank);
    return all;
  }
  TargetAddr goal_of(size_t i) const {
    return plan_.rewrites[i].entry != TargetAddr() ? plan_.rewrites[i].entry : pad_of(i);
  }
  // Through a springboard, or at once.
  TargetAddr leads_to(TargetAddr a) {
    for (int hops = 0; hops < 2; ++hops) {
      const auto insn = x86::decode(at(a), a);
      if (!insn || insn->flow != x86::Flow::kJump) return {};
      a = *insn->target;
      if (!map_.contains(a)) return a;
    }
    return {};
  }
  // Every instruction that still runs in its place is whole.
  std::string unmoved() {
    for (TargetAddr a = map_.base(); map_.contains(a); a = a + 1) {
      if (map_.length(a) == 0 || !map_.is_reached(a) || is_moved(a)) continue;
      const auto was = original_.subspan(a - map_.base(), map_.length(a));
      if (!std::equal(was.begin(), was.end(), at(a).begin()))
        return fmt::format("{:#x}: changed, and still run there", a.value);
    }
    return "";
  }
  bool is_moved(TargetAddr a) const {
    return std::any_of(in_place_.begin(), in_place_.end(),
                       [&](size_t i) { return a >= plan_.rewrites[i].start && a < plan_.rewrites[i].end(); });
  }

  const x86::CodeMap& map_;
  const x86::LadderPlan& plan_;
  std::span<const uint8_t> original_;
  std::vector<uint8_t> text_;
  std::vector<size_t> in_place_;  // rewrites whose own jump is written
};

// Any bytes as a function, any of its instructions to be probed; which rule the plan breaks. Of `how`: the
// first byte decides where pads of puns may be, the rest which instructions are asked for and which are
// entered from elsewhere.
inline std::string broken_rule(std::span<const uint8_t> how, std::span<const uint8_t> code) {
  constexpr TargetAddr kBase(0x7f12'3456'7000);
  const auto choice = [&](size_t i) { return how.empty() ? 0 : how[i % how.size()] + i / how.size(); };
  const std::vector<uint8_t> text(code.begin(), code.end());
  x86::CodeMap map(text, kBase + (choice(0) % 2 ? 0 : 0xf80));
  const AddrRange function{map.base(), map.base() + text.size()};
  map.decode({&function, 1}, {&function.begin, 1});
  for (size_t i = 0; i < text.size(); ++i)
    if (choice(i + 1) % 5 == 0) map.enter(map.base() + i);
  map.finish();
  x86::TrampolineSpace space({{TargetAddr(0x10000), kBase}, {kBase + 0x100000, TargetAddr(0x7fffffff0000)}},
                             choice(0) % 4 ? 4096 : 0);
  std::vector<TargetAddr> points;
  for (size_t i = 0; i < text.size(); ++i)
    if (map.length(map.base() + i) != 0 && choice(i) % 3 != 0) points.push_back(map.base() + i);
  const x86::RunOptions options{.singles_only = choice(1) % 4 == 0, .faults_matter = choice(2) % 4 == 0};
  const x86::LadderPlan plan = x86::Ladder(map, options, space).plan(points);
  return PlanRules(text, map, plan).broken();
}

}  // namespace blip::probe
