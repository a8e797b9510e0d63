// SPDX-License-Identifier: MIT
#include "x86/flow/stack_effect.h"

#include "x86/operands.h"

namespace blip::x86 {
namespace {

using Kind = StackEffect::Kind;

constexpr uint16_t bit(uint8_t n) { return static_cast<uint16_t>(1 << n); }

// The registers that a called function may change: rax, rcx, rdx, rsi, rdi, r8 to r11.
constexpr uint16_t kCallerSaved = 0x0fc7;

uint8_t register_at(const Operands& o, unsigned i) {
  return o.is_register(i) && o.all[i].size == 64 ? general_register(o.all[i].reg.value) : kNoRegister;
}

StackEffect clobbers(const Operands& o) { return {.clobbered = registers_changed(o)}; }

StackEffect copy(uint8_t to, uint8_t from, int64_t offset) {
  return {.kind = Kind::kCopy, .reg = to, .base = from, .offset = offset};
}

StackEffect of_move(const Operands& o) {
  const uint8_t to = register_at(o, 0), from = register_at(o, 1);
  if (to != kNoRegister && from != kNoRegister) return copy(to, from, 0);
  if (o.is_memory(0) && from != kNoRegister && is_plain_slot(o.all[0]))
    return {.kind = Kind::kStore,
            .reg = from,
            .base = general_register(o.all[0].mem.base),
            .offset = o.all[0].mem.disp.value};
  if (o.is_memory(1) && to != kNoRegister && is_plain_slot(o.all[1]))
    return {.kind = Kind::kLoad,
            .reg = to,
            .base = general_register(o.all[1].mem.base),
            .offset = o.all[1].mem.disp.value};
  return clobbers(o);
}

StackEffect of_lea(const Operands& o) {
  const uint8_t to = register_at(o, 0);
  if (to == kNoRegister || !is_plain_slot(o.all[1])) return clobbers(o);
  return copy(to, general_register(o.all[1].mem.base), o.all[1].mem.disp.value);
}

StackEffect of_sum(const Operands& o, int64_t sign) {
  const uint8_t to = register_at(o, 0);
  if (to == kNoRegister) return clobbers(o);
  if (o.is_immediate(1)) return copy(to, to, sign * o.all[1].imm.value.s);
  return clobbers(o);
}

StackEffect of_and(const Operands& o) {
  const uint8_t to = register_at(o, 0);
  if (to == kNoRegister || !o.is_immediate(1) || o.all[1].imm.value.s >= 0) return clobbers(o);
  return {.kind = Kind::kAlign, .reg = to};
}

uint8_t width_of(const Operands& o) { return o.insn.operand_width == 16 ? 2 : 8; }

StackEffect of_exchange(const Operands& o) {
  const uint16_t changed = registers_changed(o);
  if (o.is_register(0) && o.is_register(1) && o.all[0].reg.value == o.all[1].reg.value) return {};
  return {.clobbered = changed};
}

}  // namespace

StackEffect stack_effect(std::span<const uint8_t> bytes) {
  const auto o = operands_of(bytes);
  return o ? stack_effect(*o) : StackEffect{};
}

StackEffect stack_effect(const Operands& o) {
  switch (o.insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      return {.kind = Kind::kPush, .reg = register_at(o, 0), .size = width_of(o)};
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
      return {.kind = Kind::kPush, .size = width_of(o)};
    case ZYDIS_MNEMONIC_POP: {
      StackEffect pop{.kind = Kind::kPop, .reg = register_at(o, 0), .size = width_of(o)};
      if (pop.reg == kNoRegister && o.is_register(0))
        pop.clobbered = registers_changed(o) & static_cast<uint16_t>(~bit(kRsp));
      return pop;
    }
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
      return {.kind = Kind::kPop, .size = width_of(o)};
    case ZYDIS_MNEMONIC_LEAVE:
      return {.kind = Kind::kLeave, .size = width_of(o)};
    case ZYDIS_MNEMONIC_CALL:
      return {.clobbered = kCallerSaved};
    case ZYDIS_MNEMONIC_SYSCALL:
      return {.clobbered = static_cast<uint16_t>(bit(0) | bit(1) | bit(11))};
    case ZYDIS_MNEMONIC_RET:
      return {};
    case ZYDIS_MNEMONIC_MOV:
      return of_move(o);
    case ZYDIS_MNEMONIC_LEA:
      return of_lea(o);
    case ZYDIS_MNEMONIC_ADD:
      return of_sum(o, 1);
    case ZYDIS_MNEMONIC_SUB:
      return of_sum(o, -1);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      return clobbers(o);
    case ZYDIS_MNEMONIC_AND:
      return of_and(o);
    case ZYDIS_MNEMONIC_XCHG:
      return of_exchange(o);
    default:
      return clobbers(o);
  }
}

std::optional<int64_t> rsp_change(const StackEffect& effect) {
  const bool is_rsp = effect.reg == kRsp;
  switch (effect.kind) {
    case Kind::kPush:
      return -int64_t{effect.size};
    case Kind::kPop:
      return is_rsp ? std::nullopt : std::optional<int64_t>(effect.size);
    case Kind::kLeave:
      return std::nullopt;
    case Kind::kCopy:
      if (is_rsp && effect.base == kRsp) return effect.offset;
      [[fallthrough]];
    case Kind::kAlign:
    case Kind::kLoad:
      return is_rsp ? std::nullopt : std::optional<int64_t>(0);
    default:
      return effect.clobbered & bit(kRsp) ? std::nullopt : std::optional<int64_t>(0);
  }
}

}  // namespace blip::x86
