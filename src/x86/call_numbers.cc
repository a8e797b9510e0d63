// SPDX-License-Identifier: MIT
// Constants in general registers, carried forward along all edges until nothing changes. A register that may
// hold more than a few of them holds anything.
#include "x86/call_numbers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "x86/decode.h"

namespace blip::x86 {

namespace {

constexpr unsigned kRax = 0, kRcx = 1, kRdx = 2, kR11 = 11, kRegisters = 16;
// Of what a function may change, code that calls it reads no more than its result: in other registers there
// is what was there before, if the compiler knows that the function keeps it, or something that nobody wants.
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

std::optional<Move> as_move(std::span<const uint8_t> bytes) {
  uint8_t rex = 0;
  if ((bytes[0] & 0xf0) == 0x40) rex = bytes[0], bytes = bytes.subspan(1);
  const auto constant = [&](size_t at) {
    uint32_t n = 0;
    std::memcpy(&n, &bytes[at], sizeof n);
    return n;
  };
  const unsigned b = (rex & 1) << 3, r = (rex & 4) << 1;
  const bool is_wide = (rex & 8) != 0;
  const uint8_t op = bytes[0];
  if ((op & 0xf8) == 0xb8 && bytes.size() == (is_wide ? 9U : 5U)) return Move{(op & 7) | b, {}, constant(1)};
  if (bytes.size() < 2 || bytes[1] < 0xc0) return {};
  const unsigned rm = (bytes[1] & 7) | b, reg = (bytes[1] >> 3 & 7) | r;
  if (op == 0xc7 && bytes.size() == 6) return Move{rm, {}, constant(2)};
  if (op == 0x89 && bytes.size() == 2) return Move{rm, reg};
  if (op == 0x8b && bytes.size() == 2) return Move{reg, rm};
  if ((op == 0x31 || op == 0x33) && bytes.size() == 2 && rm == reg) return Move{rm, {}, 0};
  return {};
}

class Function {
 public:
  Function(std::span<const uint8_t> code, TargetAddr base)
      : code_(code), base_(base), at_(code.size(), kNone) {
    for (size_t offset = 0; offset < code.size();) {
      const auto insn = decode(code.subspan(offset), base + offset);
      if (insn) at_[offset] = insns_.size(), insns_.push_back(*insn);
      offset += insn ? insn->length : 1;
    }
  }

  std::vector<NumberedCall> run() {
    // The bytes of one are in many instructions by accident.
    if (std::none_of(insns_.begin(), insns_.end(), [](const Insn& i) { return i.flow == Flow::kSyscall; }))
      return {};
    states_.resize(insns_.size());
    for (size_t i = 0; i < insns_.size(); ++i)
      if (i == 0 || !states_[i]) begin_at(i);
    std::vector<NumberedCall> calls;
    for (size_t i = 0; i < insns_.size(); ++i) {
      if (insns_[i].flow != Flow::kSyscall) continue;
      const State state = states_[i].value_or(nothing_known());
      calls.push_back({insns_[i].addr, state[kRax].is_any() ? std::vector<uint32_t>() : state[kRax].list()});
    }
    return calls;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Nobody falls into the bytes between two pieces of code.
  bool is_padding(const Insn& insn) const { return insn.is_nop || insn.flow == Flow::kTrap; }

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
    bool grew = !states_[i];
    if (grew) {
      states_[i] = state;
    } else {
      for (unsigned r = 0; r < kRegisters; ++r) grew |= (*states_[i])[r].join(state[r]);
    }
    if (grew) work_.push_back(i);
  }

  void step(size_t i) {
    const Insn& insn = insns_[i];
    State state = *states_[i];
    apply(insn, state);
    if (insn.target && insn.flow != Flow::kCall) flow_into(*insn.target, state);
    if (!insn.ends_flow()) flow_into(insn.end(), state);
  }

  void apply(const Insn& insn, State& state) const {
    const auto move = as_move(code_.subspan(insn.addr - base_, insn.length));
    if (move) {
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
  std::vector<size_t> at_;  // offset -> instruction
  std::vector<Insn> insns_;
  std::vector<std::optional<State>> states_;  // before each instruction; none: nothing leads there
  std::vector<size_t> work_;
};

}  // namespace

std::vector<NumberedCall> find_call_numbers(std::span<const uint8_t> code, TargetAddr base) {
  return Function(code, base).run();
}

}  // namespace blip::x86
