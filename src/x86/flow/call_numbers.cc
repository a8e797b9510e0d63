// SPDX-License-Identifier: MIT
// Constants in general registers, carried forward along all edges until nothing changes. A register that may
// hold more than a few of them holds anything.
#include "x86/flow/call_numbers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "x86/decode.h"
#include "x86/operands.h"

namespace blip::x86 {

namespace {

constexpr unsigned kRax = 0, kRcx = 1, kRdx = 2, kR11 = 11, kRegisters = 16;
// Code that calls a function reads no more than its result of what the function may change. The other
// registers hold what they held before, if the compiler knows that the function keeps them, or something that
// nobody wants.
constexpr uint16_t kResult = 1 << kRax | 1 << kRdx;

class Values {
 public:
  static Values any() {
    Values v;
    v.any_ = true;
    return v;
  }
  static Values of(uint32_t n) {
    Values v;
    v.count_ = 1;
    v.values_[0] = n;
    return v;
  }
  bool is_any() const { return any_; }
  std::vector<uint32_t> list() const { return {values_.begin(), values_.begin() + count_}; }

  // True: there are more than before.
  bool join(const Values& other) {
    if (any_) return false;
    if (other.any_) return any_ = true;
    bool grew = false;
    for (unsigned i = 0; i < other.count_ && !any_; ++i) grew |= add(other.values_[i]);
    return grew;
  }

 private:
  bool add(uint32_t n) {
    const auto end = values_.begin() + count_;
    if (std::find(values_.begin(), end, n) != end) return false;
    if (count_ == values_.size()) return any_ = true;
    values_[count_++] = n;
    std::sort(values_.begin(), values_.begin() + count_);
    return true;
  }

  bool any_ = false;
  uint8_t count_ = 0;
  std::array<uint32_t, 6> values_{};
};

using State = std::array<Values, kRegisters>;

State nothing_known() {
  State state;
  state.fill(Values::any());
  return state;
}

// `mov` of a constant or between registers, of 32 bits or more, and `xor` of a register with itself.
struct Move {
  unsigned to;
  std::optional<unsigned> from;
  uint32_t value = 0;
};

std::optional<Move> as_move(const Operands& o) {
  constexpr uint16_t kWhole = 32;
  if (!o.is_register(0) || o.all[0].size < kWhole) return {};
  const unsigned to = general_register(o.all[0].reg.value);
  if (to == kNoRegister) return {};
  const bool between = o.is_register(1) && o.all[1].size == o.all[0].size;
  const unsigned from = between ? general_register(o.all[1].reg.value) : kNoRegister;
  if (o.insn.mnemonic == ZYDIS_MNEMONIC_XOR && from == to) return Move{to, {}, 0};
  if (o.insn.mnemonic != ZYDIS_MNEMONIC_MOV) return {};
  if (from != kNoRegister) return Move{to, from};
  if (!o.is_immediate(1)) return {};
  return Move{to, {}, static_cast<uint32_t>(o.all[1].imm.value.u)};
}

class Function {
 public:
  Function(std::span<const uint8_t> code, TargetAddr base)
      : code_(code), base_(base), at_(code.size(), kNone) {
    for (size_t offset = 0; offset < code.size();) {
      const auto insn = decode(code.subspan(offset), base + offset);
      if (!insn && !undecodable_) undecodable_ = base + offset;
      const size_t length = insn ? insn->length : 1;
      for (size_t i = 0; insn && i < length; ++i) at_[offset + i] = insns_.size();
      if (insn) insns_.push_back(*insn);
      offset += length;
    }
  }

  FunctionCalls run(const OutsideEntries& entries) {
    if (std::none_of(insns_.begin(), insns_.end(), [](const Insn& i) { return i.flow == Flow::kSyscall; }))
      return {{}, undecodable_};
    if (auto calls = straight_calls(entries)) return {*std::move(calls), undecodable_};
    states_.resize(insns_.size());
    for (const TargetAddr entry : entries.certain) flow_into(entry, nothing_known());
    for (const TargetAddr entry : entries.guessed)
      if (is_instruction(entry)) flow_into(entry, nothing_known());
    if (jumps_to_labels())
      for (const Insn& insn : insns_) flow_into(insn.addr, nothing_known());
    for (size_t i = 0; i < insns_.size(); ++i)
      if (i == 0 || !states_[i]) begin_at(i);
    std::vector<NumberedCall> calls;
    for (size_t i = 0; i < insns_.size(); ++i) {
      if (insns_[i].flow != Flow::kSyscall) continue;
      const State state = states_[i].value_or(nothing_known());
      calls.push_back({insns_[i].addr, state[kRax].is_any() ? std::vector<uint32_t>() : state[kRax].list()});
    }
    return {std::move(calls), undecodable_};
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Nobody falls into the bytes between two pieces of code.
  bool is_padding(const Insn& insn) const { return insn.is_nop || insn.flow == Flow::kTrap; }

  bool is_instruction(TargetAddr a) const {
    if (a < base_ || a - base_ >= code_.size() || at_[a - base_] == kNone) return false;
    return insns_[at_[a - base_]].addr == a;
  }

  // A computed goto: any instruction may be a label.
  bool jumps_to_labels() const {
    const auto jumps = [](const Insn& i) { return i.flow == Flow::kIndirectJump && !i.rip_relative; };
    const auto takes_label = [&](const Insn& i) {
      return i.lea_width != 0 && i.rip_relative && i.rip_target > base_ &&
             i.rip_target - base_ < code_.size();
    };
    return std::any_of(insns_.begin(), insns_.end(), jumps) &&
           std::any_of(insns_.begin(), insns_.end(), takes_label);
  }

  // Finds calls whose number is loaded by an instruction that always runs before them; most are such calls.
  // It finds what following the flow would find, for less. Nullopt if the flow must be followed.
  std::optional<std::vector<NumberedCall>> straight_calls(const OutsideEntries& entries) const {
    const auto entered = entered_instructions(entries);
    if (!entered) return {};
    std::vector<NumberedCall> calls;
    for (size_t i = 0; i < insns_.size(); ++i) {
      if (insns_[i].flow != Flow::kSyscall) continue;
      const auto number = number_before(i, *entered);
      if (!number) return {};
      calls.push_back({insns_[i].addr, {*number}});
    }
    return calls;
  }

  // Nothing: they may be any, or come into the middle of one.
  std::optional<std::vector<bool>> entered_instructions(const OutsideEntries& entries) const {
    if (jumps_to_labels()) return {};
    std::vector<bool> entered(insns_.size());
    bool astray = false;
    const auto enter = [&](TargetAddr a) {
      if (is_instruction(a))
        entered[at_[a - base_]] = true;
      else
        astray |= a >= base_ && a - base_ < code_.size();
    };
    for (const TargetAddr entry : entries.certain) enter(entry);
    for (const TargetAddr entry : entries.guessed)
      if (is_instruction(entry)) enter(entry);
    for (const Insn& insn : insns_)
      if (insn.target && insn.flow != Flow::kCall) enter(*insn.target);
    return astray ? std::nullopt : std::optional(std::move(entered));
  }

  std::optional<uint32_t> number_before(size_t call, const std::vector<bool>& entered) const {
    for (size_t i = call; i-- > 0 && !entered[i + 1];) {
      const Insn& insn = insns_[i];
      if (insn.flow != Flow::kNext || insn.end() != insns_[i + 1].addr) return {};
      const auto operands = operands_of(code_.subspan(insn.addr - base_, insn.length));
      if (!operands) return {};
      const auto move = as_move(*operands);
      if (move && move->to == kRax) return move->from ? std::nullopt : std::optional(move->value);
      if ((insn.registers_changed >> kRax & 1) != 0) return {};
    }
    return {};
  }

  void begin_at(size_t i) {
    if (i != 0 && is_padding(insns_[i])) return;
    flow_into(insns_[i].addr, nothing_known());
    while (!work_.empty()) {
      const size_t next = work_.back();
      work_.pop_back();
      step(next);
    }
  }

  void flow_into(TargetAddr addr, const State& state) {
    if (addr < base_ || addr - base_ >= code_.size()) return;
    const size_t i = at_[addr - base_];
    if (i == kNone) return;
    if (insns_[i].addr != addr) return flow_astray(addr, state);
    bool grew = !states_[i];
    if (grew) {
      states_[i] = state;
    } else {
      for (unsigned r = 0; r < kRegisters; ++r) grew |= (*states_[i])[r].join(state[r]);
    }
    if (grew) work_.push_back(i);
  }

  // Into an instruction, as behind its prefix: followed until it comes to another one.
  void flow_astray(TargetAddr addr, State state) {
    const TargetAddr end = base_ + code_.size();
    while (addr < end && !is_instruction(addr)) {
      const auto insn = decode(code_.subspan(addr - base_), addr);
      if (!insn || insn->flow != Flow::kNext) {
        undecodable_ = std::min(undecodable_.value_or(addr), addr);
        return;
      }
      apply(*insn, state);
      addr = insn->end();
    }
    flow_into(addr, state);
  }

  void step(size_t i) {
    const Insn& insn = insns_[i];
    State state = *states_[i];
    apply(insn, state);
    if (insn.target && insn.flow != Flow::kCall) flow_into(*insn.target, state);
    if (!insn.ends_flow()) flow_into(insn.end(), state);
  }

  void apply(const Insn& insn, State& state) const {
    const auto operands = operands_of(code_.subspan(insn.addr - base_, insn.length));
    if (!operands || insn.flow == Flow::kOther) {
      state = nothing_known();
      return;
    }
    if (const auto move = as_move(*operands)) {
      state[move->to] = move->from ? state[*move->from] : Values::of(move->value);
      return;
    }
    uint16_t changed = insn.registers_changed;
    if (insn.flow == Flow::kCall || insn.flow == Flow::kIndirectCall) changed = kResult;
    if (insn.flow == Flow::kSyscall) changed = 1 << kRax | 1 << kRcx | 1 << kR11;
    for (unsigned r = 0; r < kRegisters; ++r)
      if (changed >> r & 1) state[r] = Values::any();
  }

  std::span<const uint8_t> code_;
  TargetAddr base_;
  std::vector<size_t> at_;  // offset -> the instruction that has this byte
  std::optional<TargetAddr> undecodable_;
  std::vector<Insn> insns_;
  std::vector<std::optional<State>> states_;  // before each instruction; none: nothing leads there
  std::vector<size_t> work_;
};

}  // namespace

FunctionCalls find_calls(std::span<const uint8_t> code, TargetAddr base) {
  FunctionCalls found;
  for (size_t offset = 0; offset < code.size();) {
    const auto insn = decode(code.subspan(offset), base + offset);
    if (!insn && !found.undecodable) found.undecodable = base + offset;
    if (insn && insn->flow == Flow::kSyscall) found.calls.push_back({insn->addr, {}});
    offset += insn ? insn->length : 1;
  }
  return found;
}

FunctionCalls find_call_numbers(std::span<const uint8_t> code, TargetAddr base,
                                const OutsideEntries& entries) {
  if (code.size() > kMostFollowedCode) return find_calls(code, base);
  return Function(code, base).run(entries);
}

}  // namespace blip::x86
