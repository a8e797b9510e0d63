// SPDX-License-Identifier: MIT
// Up the stack, from caller to caller. Runs inside the target: freestanding, no data, no calls out, a bounded
// number of steps.
#pragma once

#include "unwind/find_rule.h"

namespace blip::unwind {

struct Registers {
  uint64_t rip, rsp, rbp;
  bool is_return = false;  // rip is a return address: the call before it is what counts
  bool has_rbp = true;
};

// Words between two addresses may be read, no others.
struct StackWindow {
  uint64_t low, high;

  bool read(uint64_t address, uint64_t& word) const {
    if (address < low || high < 8 || address > high - 8) return false;
    word = load(address);
    return true;
  }

  struct [[gnu::packed, gnu::may_alias]] Word {
    uint64_t value;
  };
  __attribute__((no_sanitize("address"))) static uint64_t load(uint64_t address) {
    return reinterpret_cast<const Word*>(address)->value;
  }
};

inline constexpr abi::UnwindEnd kGoesOn{UINT8_MAX};

// From a frame to its caller's by a rule that leads there. `Reader::read(address, word)` says whether the
// word may be read. kGoesOn, or why it does not.
template <typename Reader>
abi::UnwindEnd step_up(const abi::UnwindRule& rule, Registers& at, const Reader& reader) {
  using abi::UnwindEnd;
  using abi::UnwindRule;
  const bool by_rbp = rule.base == UnwindRule::kRbp;
  if (by_rbp && !at.has_rbp) return UnwindEnd::kUnsupported;
  uint64_t cfa = (by_rbp ? at.rbp : at.rsp) + static_cast<int64_t>(rule.cfa_offset);
  if (rule.base == UnwindRule::kPlt) cfa += (at.rip & 15) >= static_cast<uint64_t>(rule.cfa_add) ? 8 : 0;
  if ((rule.flags & UnwindRule::kDeref) != 0) {
    if (!reader.read(cfa, cfa)) return UnwindEnd::kUnreadable;
    cfa += static_cast<int64_t>(rule.cfa_add);
  }
  const bool is_signal = (rule.flags & UnwindRule::kSignal) != 0;
  if (!is_signal && cfa <= at.rsp) return UnwindEnd::kNotGrowing;
  uint64_t rip;
  if (!reader.read(is_signal ? at.rsp + static_cast<int64_t>(rule.rip_offset) : cfa - 8, rip))
    return UnwindEnd::kUnreadable;
  if (rip == 0) return UnwindEnd::kOutermost;
  if (rule.rbp == UnwindRule::kLost) {
    at.has_rbp = false;
  } else if (rule.rbp != UnwindRule::kInRegister) {
    const uint64_t from = rule.rbp == UnwindRule::kAtCfa   ? cfa
                          : rule.rbp == UnwindRule::kAtRbp ? at.rbp
                                                           : at.rsp;
    if (rule.rbp == UnwindRule::kAtRbp && !at.has_rbp) return UnwindEnd::kUnsupported;
    if (!reader.read(from + static_cast<int64_t>(rule.rbp_offset), at.rbp)) return UnwindEnd::kUnreadable;
    at.has_rbp = true;
  }
  at.rip = rip;
  at.rsp = cfa;
  at.is_return = !is_signal;
  return kGoesOn;
}

// Of a frame that leads nowhere by its rule.
inline abi::UnwindEnd end_at(const abi::UnwindRule& rule) {
  switch (rule.base) {
    case abi::UnwindRule::kUnknown:
      return abi::UnwindEnd::kNoRule;
    case abi::UnwindRule::kOutermost:
      return abi::UnwindEnd::kOutermost;
    case abi::UnwindRule::kPads:
      return abi::UnwindEnd::kPads;
    default:
      return abi::UnwindEnd::kUnsupported;
  }
}

// What a function's very first instruction sees.
inline constexpr abi::UnwindRule kAtEntry = {.cfa_offset = 8, .base = abi::UnwindRule::kRsp};

// Calls `visit` with each frame, at most `depth` of them, the hit's own first. `at_entry`: the hit is at the
// first instruction of a function, whatever its file tells.
template <typename Reader, typename Visit>
abi::UnwindEnd walk(const uint8_t* header, Registers at, bool at_entry, uint32_t depth, const Reader& reader,
                    Visit&& visit) {
  RuleFinder finder(header);
  visit(at.rip);
  const abi::UnwindRule* rule = at_entry ? &kAtEntry : finder.find(at.rip);
  for (uint32_t count = 1;; ++count) {
    if (rule == nullptr) return abi::UnwindEnd::kNoModule;
    const bool leads_on = rule->base >= abi::UnwindRule::kRsp && rule->base <= abi::UnwindRule::kPlt;
    if (!leads_on) return end_at(*rule);
    if (count >= depth) return abi::UnwindEnd::kDepth;
    const abi::UnwindEnd end = step_up(*rule, at, reader);
    if (end != kGoesOn) return end;
    visit(at.is_return ? at.rip : at.rip | abi::kInterrupted);
    rule = finder.find(at.rip - at.is_return);
  }
}

}  // namespace blip::unwind
