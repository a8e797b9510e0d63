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

  abi::SafeWord read(uint64_t address) const {
    if (address < low || high < 8 || address > high - 8) return {0, 0};
    return {load(address), 1};
  }

  struct [[gnu::packed, gnu::may_alias]] Word {
    uint64_t value;
  };
  __attribute__((no_sanitize("address"))) static uint64_t load(uint64_t address) {
    return reinterpret_cast<const Word*>(address)->value;
  }
};

inline constexpr abi::UnwindEnd kGoesOn{UINT8_MAX};

// Finds the caller's rbp.
template <typename Reader>
abi::SafeWord saved_rbp(const abi::UnwindRule& rule, const Registers& at, uint64_t cfa,
                        const Reader& reader) {
  const auto offset = static_cast<int64_t>(rule.rbp_offset);
  if (rule.rbp == abi::UnwindRule::kAtCfa) return reader.read(cfa + offset);
  if (rule.rbp == abi::UnwindRule::kAtRbp) return at.has_rbp ? reader.read(at.rbp + offset) : abi::SafeWord{};
  return reader.read(at.rsp + offset);
}

// From a frame to its caller's by a rule that leads there. `Reader::read(address)` loads a word if it may be
// read. kGoesOn, or why it does not.
template <typename Reader>
__attribute__((always_inline)) inline abi::UnwindEnd step_up(const abi::UnwindRule& rule, Registers& at,
                                                             const Reader& reader) {
  using abi::UnwindEnd;
  using abi::UnwindRule;
  const bool by_rbp = rule.base == UnwindRule::kRbp;
  if (by_rbp && !at.has_rbp) return UnwindEnd::kUnsupported;
  uint64_t cfa = (by_rbp ? at.rbp : at.rsp) + static_cast<int64_t>(rule.cfa_offset);
  if (rule.base == UnwindRule::kPlt) cfa += (at.rip & 15) >= static_cast<uint64_t>(rule.cfa_add) ? 8 : 0;
  if ((rule.flags & UnwindRule::kDeref) != 0) {
    const abi::SafeWord kept = reader.read(cfa);
    if (kept.is_there == 0) return UnwindEnd::kUnreadable;
    cfa = kept.word + static_cast<int64_t>(rule.cfa_add);
  }
  const bool is_signal = (rule.flags & UnwindRule::kSignal) != 0;
  if (!is_signal && cfa <= at.rsp) return UnwindEnd::kNotGrowing;
  const abi::SafeWord rip = reader.read(is_signal ? at.rsp + static_cast<int64_t>(rule.rip_offset) : cfa - 8);
  if (rip.is_there == 0) return UnwindEnd::kUnreadable;
  if (rip.word == 0) return UnwindEnd::kOutermost;
  if (rule.rbp == UnwindRule::kLost) {
    at.has_rbp = false;
  } else if (rule.rbp != UnwindRule::kInRegister) {
    const abi::SafeWord rbp = saved_rbp(rule, at, cfa, reader);
    if (rbp.is_there == 0) return UnwindEnd::kUnreadable;
    at.rbp = rbp.word;
    at.has_rbp = true;
  }
  at.rip = rip.word;
  at.rsp = cfa;
  at.is_return = !is_signal;
  return kGoesOn;
}

// Says why the walk ends at a frame whose rule leads nowhere.
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

// The rule at a function's very first instruction.
inline constexpr abi::UnwindRule kAtEntry = {.cfa_offset = 8, .base = abi::UnwindRule::kRsp};

// Calls `visit` with each frame, at most `depth` of them, the hit's own first. `at_entry`: the hit is at the
// first instruction of a function, whatever its file tells.
template <typename Reader, typename Visit>
abi::UnwindEnd walk(const uint8_t* header, Registers at, bool at_entry, uint32_t depth, const Reader& reader,
                    Visit&& visit) {
  const RuleFinder finder(header);
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
