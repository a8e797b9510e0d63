// SPDX-License-Identifier: MIT
// For all instructions of a function the textbook backward analysis: live before = reads, or live behind and
// not written. It starts from "nothing is live" and grows, so the result is the least solution: a loop that
// touches nothing makes nothing live. For one place a walk forward finds the same with less decoding. Flags
// and registers are one mask.
#include "x86/flow/liveness.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace blip::x86 {
namespace {

// Registers in bits 0..15, status flags above.
constexpr unsigned kFlagShift = 16;
constexpr uint32_t kRegisters = 0xffff;
constexpr uint32_t kFlags = kStatusFlags << kFlagShift;
constexpr size_t kMaxInsns = 64;  // for one question

// Indices of instructions where control may go on.
constexpr uint32_t kNowhere = UINT32_MAX;
constexpr uint32_t kOutside = UINT32_MAX - 1;  // the C ABI holds, if any does
constexpr uint32_t kUnknown = UINT32_MAX - 2;

struct Node {
  uint32_t reads = 0;
  uint32_t writes = 0;
  std::array<uint32_t, 2> next = {kNowhere, kNowhere};
  uint32_t live = 0;
};

uint32_t live_outside(uint32_t where, LivenessRule rule) {
  if (where == kNowhere) return 0;
  return where == kOutside && rule == LivenessRule::kEntry ? kRegisters : kRegisters | kFlags;
}

// Least solution for all nodes. Going backwards settles straight code in one round; each loop adds one.
void solve(std::span<Node> nodes, LivenessRule rule) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = nodes.size(); i-- > 0;) {
      Node& node = nodes[i];
      uint32_t behind = 0;
      for (uint32_t next : node.next)
        behind |= next < nodes.size() ? nodes[next].live : live_outside(next, rule);
      const uint32_t live = node.reads | (behind & ~node.writes);
      changed |= live != node.live;
      node.live = live;
    }
  }
}

// The node of an instruction; `find` tells the index of an address.
template <class Find>
Node node_of(const Insn& insn, Find&& find) {
  Node node{.reads = insn.flags_read << kFlagShift | insn.registers_read,
            .writes = insn.flags_written << kFlagShift | insn.registers_written};
  switch (insn.flow) {
    case Flow::kNext:
    case Flow::kSyscall:
      node.next[0] = find(insn.end());
      break;
    case Flow::kCondJump:
      node.next = {find(insn.end()), find(*insn.target)};
      break;
    case Flow::kJump:
      node.next[0] = find(*insn.target);
      break;
    case Flow::kOther:
      node.next[0] = kUnknown;
      break;
    default:
      node.next[0] = kOutside;
  }
  return node;
}

// One place's liveness: goes forward from it, along each path with what was not written yet.
class ForwardWalk {
 public:
  ForwardWalk(std::span<const uint8_t> code, TargetAddr base, LivenessRule rule)
      : code_(code), base_(base), rule_(rule) {}

  // Those of `wanted` that are live at `start`.
  uint32_t live_from(TargetAddr start, uint32_t wanted) {
    arrive(find(start), wanted);
    while (!pending_.empty()) {
      auto [index, unwritten] = pending_.back();
      pending_.pop_back();
      const Node node = node_at(index);
      live_ |= unwritten & node.reads;
      unwritten &= ~node.writes;
      for (uint32_t next : node.next) arrive(next, unwritten);
    }
    return live_;
  }

 private:
  struct Place {
    TargetAddr addr;
    uint32_t arrived = 0;  // unwritten, when control came here
    std::optional<Node> node{};
  };

  void arrive(uint32_t index, uint32_t unwritten) {
    unwritten &= ~live_;  // known already
    if (index >= places_.size()) {
      live_ |= live_outside(index, rule_) & unwritten;
      return;
    }
    unwritten &= ~places_[index].arrived;
    if (unwritten == 0) return;
    places_[index].arrived |= unwritten;
    pending_.emplace_back(index, unwritten);
  }

  Node node_at(uint32_t index) {
    if (places_[index].node) return *places_[index].node;
    const TargetAddr at = places_[index].addr;
    Node node{.next = {kUnknown, kNowhere}};
    if (const auto insn = decode(code_.subspan(at - base_), at))
      node = node_of(*insn, [&](TargetAddr a) { return find(a); });
    places_[index].node = node;
    return node;
  }

  uint32_t find(TargetAddr a) {
    if (a < base_ || a - base_ >= code_.size()) return kOutside;
    for (size_t i = 0; i < places_.size(); ++i)
      if (places_[i].addr == a) return static_cast<uint32_t>(i);
    if (places_.size() == kMaxInsns) return kUnknown;
    places_.push_back({a});
    return static_cast<uint32_t>(places_.size() - 1);
  }

  std::span<const uint8_t> code_;
  TargetAddr base_;
  LivenessRule rule_;
  std::vector<Place> places_;
  std::vector<std::pair<uint32_t, uint32_t>> pending_;  // place, what is not written there
  uint32_t live_ = 0;
};

Liveness liveness_of(uint32_t live) {
  return {.flags = live >> kFlagShift, .registers = static_cast<uint16_t>(live)};
}

}  // namespace

Liveness live_at(std::span<const uint8_t> code, TargetAddr base, TargetAddr start, LivenessRule rule) {
  return liveness_of(ForwardWalk(code, base, rule).live_from(start, kRegisters | kFlags));
}

bool flags_live(std::span<const uint8_t> code, TargetAddr base, TargetAddr start, LivenessRule rule) {
  return ForwardWalk(code, base, rule).live_from(start, kFlags) != 0;
}

std::vector<Liveness> live_at_each(std::span<const Insn> code, LivenessRule rule) {
  const auto find = [&](TargetAddr a) -> uint32_t {
    const auto it =
        std::lower_bound(code.begin(), code.end(), a, [](const Insn& i, TargetAddr x) { return i.addr < x; });
    if (it != code.end() && it->addr == a) return static_cast<uint32_t>(it - code.begin());
    return !code.empty() && a >= code.front().addr && a < code.back().end() ? kUnknown : kOutside;
  };
  std::vector<Node> nodes;
  nodes.reserve(code.size());
  for (size_t i = 0; i < code.size(); ++i) {
    const bool next_is_known = i + 1 < code.size() && code[i + 1].addr == code[i].end();
    nodes.push_back(node_of(code[i], [&](TargetAddr a) {
      return next_is_known && a == code[i].end() ? static_cast<uint32_t>(i + 1) : find(a);
    }));
  }
  solve(nodes, rule);
  std::vector<Liveness> result;
  result.reserve(nodes.size());
  for (const Node& node : nodes) result.push_back(liveness_of(node.live));
  return result;
}

}  // namespace blip::x86
