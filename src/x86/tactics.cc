// SPDX-License-Identifier: MIT
// Ways to lead to a pad with fewer than 5 bytes. `o` are bytes of the run, `+` those behind it:
//
//   springboard        EB rel8          -> padding nearby:  E9 rel32 -> pad
//   pun                E9 x x + +       the last bytes of rel32 stay what they are; the jump leads where they
//                                       say, to a trampoline there, as near as the free bytes x allow
//   prefixed pun       26 E9 x + + +    the same with other bytes of the successors
//   evict next         E9 x [E9 d d d d]
//                                       the successor becomes a jump of its own, whose displacement is chosen
//                                       so that both lead to free memory
//   evict neighbour    EB rel8          -> [E9 rel32][E9 rel32 -> pad]
//                                       a run of 10 bytes moves; in its place are its own jump and a
//                                       springboard
#include "x86/tactics.h"

#include <algorithm>
#include <array>

#include "base/page.h"

namespace blip::x86 {

namespace {

constexpr uint64_t kShortJump = 2;
constexpr uint8_t kJumpOpcode = 0xe9;
constexpr uint8_t kShortJumpOpcode = 0xeb;
constexpr int kPlacesTried = 256;  // for the two trampolines of evict next
constexpr int64_t kPlaceStride = 8 << 20;

bool on_one_page(TargetAddr a) { return !crosses_page(a, kJumpLength); }

Step near_step(const CodeMap& map, const Run& run) {
  if (run.padding || run.size() != map.length(run.start)) return Step::kWindow;
  return map.is_nop(run.start) ? Step::kNop : Step::kSingle;
}

}  // namespace

Tactics::Tactics(const CodeMap& map, const RunFinder& runs, AddrRange reach)
    : map_(map), runs_(runs), reach_(reach), state_(map) {
  for (const TargetAddr site : map.watched())
    for (uint64_t i = 0; i < kJumpLength; ++i) state_.doubt(site + i);
}

Rewrite Tactics::near(const Run& run) const {
  return {.start = run.start,
          .length = static_cast<uint8_t>(run.size()),
          .padding = run.padding,
          .step = near_step(map_, run)};
}

std::optional<Proposal> Tactics::find(const Run& run, const TrampolineSpace& space) const {
  if (auto p = springboard(run)) return p;
  for (uint64_t prefixes = 0; prefixes < run.owned() && prefixes < kJumpLength - 1; ++prefixes)
    if (auto p = pun(run, prefixes, space)) return p;
  if (auto p = evict_neighbour(run)) return p;
  return evict_next(run, space);
}

// ---- short jumps

// All in padding, or all in the bytes of one rewrite: its edit belongs to one of them.
bool Tactics::is_room_for_jump(TargetAddr at, const Run& run) const {
  if (!on_one_page(at) || (at < run.end + run.padding && run.start < at + kJumpLength)) return false;
  for (uint64_t i = 0; i < kJumpLength; ++i)
    if (!state_.is_room(at + i) || state_.is_taken(at + i) != state_.is_taken(at)) return false;
  return true;
}

std::optional<Proposal> Tactics::springboard(const Run& run) const {
  const TargetAddr behind = run.start + kShortJump;
  Rewrite rewrite = near(run);
  rewrite.step = Step::kSpringboard;
  rewrite.rank = 1;
  if (run.owned() < kShortJump) {  // the distance is what stands there
    const auto rel = state_.byte(run.start + 1);
    if (!rel) return std::nullopt;
    rewrite.springboard = behind + static_cast<uint64_t>(int64_t{static_cast<int8_t>(*rel)});
    if (!is_room_for_jump(rewrite.springboard, run)) return std::nullopt;
    rewrite.rank = std::max(rewrite.rank, rank_over(run.start + 1, behind));
    return Proposal{.rewrite = rewrite};
  }
  for (int64_t distance = 0; distance <= 128; ++distance) {
    for (const int64_t rel : {distance, -distance}) {
      if (rel > 127) continue;
      rewrite.springboard = behind + static_cast<uint64_t>(rel);
      if (is_room_for_jump(rewrite.springboard, run)) return Proposal{.rewrite = rewrite};
    }
  }
  return std::nullopt;
}

// The run from `head` on, if moving it makes room for a jump that a short one from `run` can reach.
std::optional<Rewrite> Tactics::evictee(TargetAddr head, const Run& run, TargetAddr& room) const {
  if (!map_.is_reached(head) || !runs_.is_movable(head) || !on_one_page(head)) return std::nullopt;
  const Run moved = runs_.forward(head, 2 * kJumpLength);
  if (moved.size() + moved.padding < 2 * kJumpLength ||
      !state_.is_untouched({head, moved.end + moved.padding}))
    return std::nullopt;
  if (head < run.end + run.padding && run.start < moved.end + moved.padding) return std::nullopt;
  for (room = head + kJumpLength; room + kJumpLength <= moved.end + moved.padding; room = room + 1) {
    const auto rel = static_cast<int64_t>(room - (run.start + kShortJump));
    if (rel >= -128 && rel <= 127 && on_one_page(room)) return near(moved);
  }
  return std::nullopt;
}

std::optional<Proposal> Tactics::evict_neighbour(const Run& run) const {
  constexpr uint64_t kFarthest = 140;
  if (run.owned() < kShortJump) return std::nullopt;
  Rewrite rewrite = near(run);
  rewrite.step = Step::kEvictNeighbour;
  rewrite.rank = 1;
  const TargetAddr first =
      std::max(map_.base(), TargetAddr(run.start.value - std::min(run.start.value, kFarthest)));
  for (TargetAddr at = first; at < run.end + kFarthest; at = at + 1) {
    if (map_.length(at) == 0) continue;
    if (const auto evicted = evictee(at, run, rewrite.springboard))
      return Proposal{.rewrite = rewrite, .evicted = evicted};
  }
  return std::nullopt;
}

// ---- punned jumps

// [from + distance, + width), as far as it is in reach.
AddrRange Tactics::in_reach(TargetAddr from, int64_t distance, uint64_t width) const {
  const auto begin = static_cast<int64_t>(from.value) + distance;
  const int64_t end = begin + static_cast<int64_t>(width);
  const auto low = static_cast<int64_t>(reach_.begin.value);
  const auto high = static_cast<int64_t>(reach_.end.value);
  if (end <= low || begin >= high) return {};
  return {TargetAddr(static_cast<uint64_t>(std::max(begin, low))),
          TargetAddr(static_cast<uint64_t>(std::min(end, high)))};
}

// One above the highest rank of a rewrite that changes one of these bytes; 0 if none does.
uint8_t Tactics::rank_over(TargetAddr begin, TargetAddr end) const {
  uint8_t rank = 0;
  for (TargetAddr a = begin; a < end; a = a + 1) {
    if (!state_.is_taken(a)) continue;
    const auto known = ranks_.find(a.value);
    rank = std::max<uint8_t>(rank, 1 + (known != ranks_.end() ? known->second : 0));
  }
  return rank;
}

std::optional<Proposal> Tactics::pun(const Run& run, uint64_t prefixes, const TrampolineSpace& space) const {
  const uint64_t owned = run.owned();
  const uint64_t free_bytes = owned - 1 - prefixes;  // of the displacement, the low ones
  const TargetAddr behind = run.start + prefixes + kJumpLength;
  uint32_t rel = 0;
  for (uint64_t i = free_bytes; i < 4; ++i) {
    const auto byte = state_.byte(run.start + prefixes + 1 + i);
    if (!byte) return std::nullopt;
    rel |= uint32_t{*byte} << (8 * i);
  }
  const auto at = space.find(in_reach(behind, static_cast<int32_t>(rel), uint64_t{1} << (8 * free_bytes)));
  if (!at) return std::nullopt;
  Rewrite rewrite = near(run);
  rewrite.step = prefixes ? Step::kPrefixedPun : Step::kPun;
  rewrite.prefixes = static_cast<uint8_t>(prefixes);
  rewrite.entry = *at;
  rewrite.rank = rank_over(run.start + owned, behind);
  return Proposal{.rewrite = rewrite};
}

// The jump right behind the run: one of the plan whose displacement is still free, or one to be made.
std::optional<Rewrite> Tactics::next_rewrite(const Run& run, bool& is_planned) const {
  const auto known = by_start_.find(run.end.value);
  is_planned = known != by_start_.end();
  if (is_planned) {
    const Rewrite& next = rewrites_[known->second];
    const bool is_plain = next.entry == TargetAddr() && next.springboard == TargetAddr();
    return is_plain ? std::optional(next) : std::nullopt;
  }
  if (map_.length(run.end) == 0 || !map_.is_reached(run.end) || !runs_.is_movable(run.end))
    return std::nullopt;
  const Run next = runs_.forward(run.end, kJumpLength);
  if (!next.fits_jump() || !state_.is_untouched({next.start, next.end + next.padding})) return std::nullopt;
  return near(next);
}

std::optional<Proposal> Tactics::evict_next(const Run& run, const TrampolineSpace& space) const {
  const uint64_t owned = run.owned();
  if (run.padding || owned != run.size()) return std::nullopt;
  bool is_planned = false;
  auto next = next_rewrite(run, is_planned);
  if (!next) return std::nullopt;
  const uint64_t free_bytes = owned - 1;
  const uint64_t shared = 3 - free_bytes;  // bytes of the next jump's displacement in ours
  const int64_t width = int64_t{1} << (8 * free_bytes);
  const int64_t period = width << 8;
  for (int i = 0; i < kPlacesTried; ++i) {
    // Both directions in turn, in strides; then to where the byte behind our own is the next jump's opcode.
    const int64_t wish = (i / 2 + 1) * kPlaceStride * (i % 2 ? -1 : 1);
    const int64_t distance = (wish & ~(period - 1)) + kJumpOpcode * width;
    if (distance != static_cast<int32_t>(distance)) continue;
    const auto ours = space.find(in_reach(run.start + kJumpLength, distance, static_cast<uint64_t>(width)));
    if (!ours) continue;
    Rewrite rewrite = near(run);
    rewrite.step = Step::kEvictNext;
    rewrite.entry = *ours;
    rewrite.rank = 1;
    if (shared == 0)
      return Proposal{.rewrite = rewrite, .evicted = is_planned ? std::nullopt : std::optional(*next)};
    const auto rel = static_cast<uint32_t>(*ours - (run.start + kJumpLength));
    const uint32_t low = rel >> (8 * (free_bytes + 1));  // of the next displacement
    const int64_t step = int64_t{1} << (8 * shared);
    for (int j = 0; j < kPlacesTried; ++j) {
      const int64_t spread = std::max<int64_t>(step, kPlaceStride);
      const int64_t there = ((j / 2) * spread * (j % 2 ? -1 : 1) & ~(step - 1)) + low;
      if (there != static_cast<int32_t>(there)) continue;
      const auto theirs = space.find(in_reach(next->start + kJumpLength, there, 1));
      if (!theirs || (*theirs < *ours + kTrampolineSize && *ours < *theirs + kTrampolineSize)) continue;
      next->entry = *theirs;
      if (is_planned) return Proposal{.rewrite = rewrite, .next_entry = *theirs};
      return Proposal{.rewrite = rewrite, .evicted = next};
    }
  }
  return std::nullopt;
}

// ---- what the plan does

void Tactics::commit_jump_bytes(const Rewrite& rewrite) {
  const Run run{rewrite.start, rewrite.start + rewrite.length, rewrite.padding};
  const auto put_jump = [&](TargetAddr at) {
    state_.put(at, kJumpOpcode);
    for (uint64_t i = 1; i < kJumpLength; ++i) state_.put_unknown(at + i);
  };
  if (rewrite.springboard != TargetAddr()) {
    put_jump(rewrite.springboard);
    state_.put(run.start, kShortJumpOpcode);
    const auto rel = static_cast<uint8_t>(rewrite.springboard - (run.start + kShortJump));
    run.owned() < kShortJump ? state_.lock(run.start + 1) : state_.put(run.start + 1, rel);
    return;
  }
  const TargetAddr opcode = run.start + rewrite.prefixes;
  if (rewrite.entry == TargetAddr()) {
    put_jump(opcode);
    return;
  }
  for (TargetAddr a = run.start; a < opcode; a = a + 1) state_.put(a, 0x26);
  state_.put(opcode, kJumpOpcode);
  const auto rel = static_cast<uint32_t>(rewrite.entry - (opcode + kJumpLength));
  for (uint64_t i = 0; i < 4; ++i) {
    const TargetAddr a = opcode + 1 + i;
    if (a < run.start + run.owned()) {
      state_.put(a, static_cast<uint8_t>(rel >> (8 * i)));
    } else {
      state_.lock(a);
    }
  }
}

void Tactics::commit(const Rewrite& rewrite) {
  by_start_[rewrite.start.value] = rewrites_.size();
  rewrites_.push_back(rewrite);
  const bool has_tail = rewrite.entry == TargetAddr() && rewrite.springboard == TargetAddr();
  for (TargetAddr a = rewrite.start; a < rewrite.end(); a = a + 1) {
    if (rewrite.rank) ranks_[a.value] = rewrite.rank;
    has_tail ? state_.take_as_room(a) : state_.take(a);
  }
  commit_jump_bytes(rewrite);
}

void Tactics::force_entry(TargetAddr start, TargetAddr entry) {
  Rewrite& rewrite = rewrites_[by_start_.at(start.value)];
  rewrite.entry = entry;
  const auto rel = static_cast<uint32_t>(entry - (start + kJumpLength));
  for (uint64_t i = 0; i < 4; ++i) state_.fix(start + 1 + i, static_cast<uint8_t>(rel >> (8 * i)));
}

void Tactics::commit(const Proposal& proposal, TrampolineSpace& space) {
  const Rewrite& rewrite = proposal.rewrite;
  if (proposal.evicted) {
    commit(*proposal.evicted);
    if (proposal.evicted->entry != TargetAddr()) space.take(proposal.evicted->entry);
  }
  if (proposal.next_entry != TargetAddr()) {
    force_entry(rewrite.start + rewrite.length, proposal.next_entry);
    space.take(proposal.next_entry);
  }
  if (rewrite.entry != TargetAddr()) space.take(rewrite.entry);
  commit(rewrite);
}

}  // namespace blip::x86
