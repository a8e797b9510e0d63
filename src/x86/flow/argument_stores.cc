// SPDX-License-Identifier: MIT
#include "x86/flow/argument_stores.h"

#include <algorithm>
#include <array>

#include "x86/decode.h"
#include "x86/operands.h"

namespace blip::x86 {
namespace {

// The contents of a register.
struct Held {
  enum class Kind : uint8_t { kAnything, kArgument, kStack } kind = Kind::kAnything;
  uint8_t reg = 0;           // kArgument: as it was at the entry ...
  uint8_t size = 0;          // ... so many of its lowest bytes
  int64_t offset = 0;        // kStack: from rsp at the entry
  bool is_reloaded = false;  // kArgument: from where it was stored
};

constexpr unsigned kRegisters = 16;

uint8_t vector_register(ZydisRegister r) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(r);
  const bool is_vector =
      kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_ZMM;
  const auto id = static_cast<uint8_t>(ZydisRegisterGetId(r));
  return is_vector && id < kRegisters ? id : kNoRegister;
}

bool is_written(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }

// ah to bh are no lowest bytes.
bool is_high_byte(ZydisRegister r) { return r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH; }

class Simulation {
 public:
  Simulation() {
    for (unsigned i = 0; i < kRegisters; ++i)
      general_[i] = {.kind = Held::Kind::kArgument, .reg = static_cast<uint8_t>(i), .size = 8};
    general_[kRsp] = {.kind = Held::Kind::kStack};
    vector_.fill(true);
  }

  // Returns whether the walk goes on.
  bool step(const Operands& o) {
    switch (o.insn.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH:
        return push(o);
      case ZYDIS_MNEMONIC_MOV:
      case ZYDIS_MNEMONIC_MOVSS:
      case ZYDIS_MNEMONIC_MOVSD:
      case ZYDIS_MNEMONIC_MOVAPS:
      case ZYDIS_MNEMONIC_MOVUPS:
      case ZYDIS_MNEMONIC_MOVQ:
      case ZYDIS_MNEMONIC_MOVD:
        return move(o);
      case ZYDIS_MNEMONIC_LEA:
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB:
        if (const auto sum = stack_sum(o)) {
          general_[general_register(o.all[0].reg.value)] = {.kind = Held::Kind::kStack, .offset = *sum};
          return true;
        }
        return forget(o);
      case ZYDIS_MNEMONIC_AND:
        return keep_truth(o) || forget(o);
      default:
        return forget(o);
    }
  }

  bool is_unchanged(unsigned reg) const {
    const Held& held = general_[reg];
    return held.kind == Held::Kind::kArgument && held.reg == reg && held.size == 8;
  }

  Prologue result() && {
    const auto offset = [&](uint8_t reg) {
      const Held& held = general_[reg];
      return held.kind == Held::Kind::kStack ? std::optional(held.offset) : std::nullopt;
    };
    return {.stores = std::move(stores_), .rsp = offset(kRsp), .rbp = offset(kRbp)};
  }

 private:
  std::optional<int64_t> slot(const ZydisDecodedOperand& o) const {
    if (!is_plain_slot(o)) return std::nullopt;
    const uint8_t base = general_register(o.mem.base);
    if (general_[base].kind != Held::Kind::kStack) return std::nullopt;
    return general_[base].offset + o.mem.disp.value;
  }

  std::optional<int64_t> stack_sum(const Operands& o) const {
    if (!o.is_register(0) || o.all[0].size != 64) return std::nullopt;
    if (o.insn.mnemonic == ZYDIS_MNEMONIC_LEA) return slot(o.all[1]);
    const Held& held = general_[general_register(o.all[0].reg.value)];
    if (held.kind != Held::Kind::kStack || !o.is_immediate(1)) return std::nullopt;
    const int64_t n = o.all[1].imm.value.s;
    return o.insn.mnemonic == ZYDIS_MNEMONIC_ADD ? held.offset + n : held.offset - n;
  }

  // Code that is not optimized may store an argument, load it and store it again where it stays. But it also
  // assigns one to another that way: what was stored to before is a variable then.
  void store(int64_t at, uint8_t size, const std::optional<ArgumentStore>& what, bool is_reloaded = false) {
    const auto overlaps = [&](const auto& other) {
      return other.at < at + size && at < other.at + other.size;
    };
    const bool is_first = std::none_of(written_.begin(), written_.end(), overlaps);
    written_.push_back({.at = at, .size = size});
    std::erase_if(stores_, overlaps);
    if (what && (is_first || !is_reloaded))
      stores_.push_back({.at = at, .size = size, .reg = what->reg, .is_vector = what->is_vector});
  }

  // The value that is loaded from there.
  Held stored_at(int64_t at, uint8_t size) const {
    for (const ArgumentStore& s : stores_)
      if (s.at == at && s.size >= size && !s.is_vector)
        return {.kind = Held::Kind::kArgument, .reg = s.reg, .size = size, .is_reloaded = true};
    return {};
  }

  bool is_reloaded(const ZydisDecodedOperand& o) const {
    const uint8_t g = o.type == ZYDIS_OPERAND_TYPE_REGISTER ? general_register(o.reg.value) : kNoRegister;
    return g != kNoRegister && general_[g].is_reloaded;
  }

  // The argument, or the part of one, that an operand is.
  std::optional<ArgumentStore> argument(const ZydisDecodedOperand& o) const {
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER || is_high_byte(o.reg.value)) return std::nullopt;
    if (const uint8_t v = vector_register(o.reg.value); v != kNoRegister)
      return vector_[v] ? std::optional(ArgumentStore{.reg = v, .is_vector = true}) : std::nullopt;
    const uint8_t g = general_register(o.reg.value);
    if (g == kNoRegister || general_[g].kind != Held::Kind::kArgument || o.size / 8 > general_[g].size)
      return std::nullopt;
    return ArgumentStore{.reg = general_[g].reg};
  }

  // and $1, %REG: how a truth value is stored. The other bits are none of it, nor of the register any more.
  bool keep_truth(const Operands& o) {
    if (!o.is_register(0) || o.all[0].size != 8 || is_high_byte(o.all[0].reg.value)) return false;
    if (!o.is_immediate(1) || o.all[1].imm.value.u != 1) return false;
    Held& held = general_[general_register(o.all[0].reg.value)];
    if (held.kind == Held::Kind::kStack) return false;
    held.size = std::min<uint8_t>(held.size, 1);
    return true;
  }

  bool push(const Operands& o) {
    constexpr uint8_t kWord = 8;
    Held& rsp = general_[kRsp];
    if (rsp.kind != Held::Kind::kStack || o.insn.operand_width == 16) return false;
    rsp.offset -= kWord;
    store(rsp.offset, kWord, argument(o.all[0]));
    return true;
  }

  bool move(const Operands& o) {
    if (o.is_memory(0)) {
      const auto at = slot(o.all[0]);
      const unsigned size = o.all[0].size / 8;
      if (!at || size > 16) return false;
      store(*at, static_cast<uint8_t>(size), argument(o.all[1]), is_reloaded(o.all[1]));
      return true;
    }
    const uint8_t to = o.is_register(0) ? general_register(o.all[0].reg.value) : kNoRegister;
    if (const auto at = to != kNoRegister && o.is_memory(1) ? slot(o.all[1]) : std::nullopt) {
      const bool is_low = !is_high_byte(o.all[0].reg.value);
      general_[to] = is_low ? stored_at(*at, static_cast<uint8_t>(o.all[0].size / 8)) : Held{};
      return true;
    }
    const uint8_t from = o.is_register(1) ? general_register(o.all[1].reg.value) : kNoRegister;
    if (to == kNoRegister || from == kNoRegister || is_high_byte(o.all[0].reg.value)) return forget(o);
    const Held held = general_[from];
    const auto size = static_cast<uint8_t>(o.all[0].size / 8);
    const bool is_known = held.kind == Held::Kind::kStack ? size == 8 : argument(o.all[1]).has_value();
    general_[to] = is_known ? held : Held{};
    if (is_known && held.kind == Held::Kind::kArgument) general_[to].size = size;
    return true;
  }

  // An instruction of another kind: what it changes is not known any more.
  bool forget(const Operands& o) {
    const uint16_t changed = registers_changed(o);
    for (unsigned i = 0; i < kRegisters; ++i)
      if (changed >> i & 1) general_[i] = {};
    for (const ZydisDecodedOperand& operand : o.each()) {
      if (!is_written(operand)) continue;
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        const auto at = slot(operand);
        if (!at || operand.size / 8 > 64) return false;
        store(*at, static_cast<uint8_t>(operand.size / 8), std::nullopt);
      }
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
        if (const uint8_t v = vector_register(operand.reg.value); v != kNoRegister) vector_[v] = false;
    }
    return true;
  }

  std::array<Held, kRegisters> general_;
  std::array<bool, kRegisters> vector_;
  std::vector<ArgumentStore> stores_;
  std::vector<ArgumentStore> written_;  // whatever it was
};

}  // namespace

Prologue argument_stores(std::span<const uint8_t> code) {
  constexpr int kMost = 96;
  Simulation simulation;
  std::array<uint32_t, kRegisters> unchanged{};
  uint32_t at = 0;
  for (int i = 0; i < kMost && !code.empty(); ++i) {
    for (unsigned reg = 0; reg < kRegisters; ++reg)
      if (simulation.is_unchanged(reg)) unchanged[reg] = at;
    const auto insn = decode(code, {});
    const auto operands = operands_of(code);
    if (!insn || !operands || insn->flow != Flow::kNext || insn->is_privileged) break;
    if (!simulation.step(*operands)) break;
    code = code.subspan(insn->length);
    at += insn->length;
  }
  Prologue prologue = std::move(simulation).result();
  prologue.unchanged = unchanged;
  return prologue;
}

}  // namespace blip::x86
