// SPDX-License-Identifier: MIT
#include "x86/flow/switch_jump.h"

#include <algorithm>

#include "x86/operands.h"

namespace blip::x86 {
namespace {

constexpr size_t kFarthest = 48;  // instructions before the jump
constexpr uint8_t kNotrackPrefix = 0x3e;

struct Memory {
  uint8_t base = kNoRegister, index = kNoRegister, scale = 0;
  int64_t displacement = 0;
};

Memory memory_of(const ZydisDecodedOperand& o) {
  return {general_register(o.mem.base), general_register(o.mem.index), o.mem.scale, o.mem.disp.value};
}

bool is_rip(const ZydisDecodedOperand& o) { return o.mem.base == ZYDIS_REGISTER_RIP; }

// base + index
bool is_sum(const ZydisDecodedOperand& o) {
  return o.mem.index != ZYDIS_REGISTER_NONE && o.mem.scale == 1 && o.mem.disp.value == 0;
}

bool has_notrack(const Operands& o) {
  const auto* end = o.insn.raw.prefixes + o.insn.raw.prefix_count;
  return std::any_of(o.insn.raw.prefixes, end, [](const auto& p) { return p.value == kNotrackPrefix; });
}

class JumpSourceFinder {
 public:
  JumpSourceFinder(const FunctionCode& code, size_t jump) : code_(code), jump_(jump) {}

  JumpSource run() {
    const auto o = operands_of(code_.insns[jump_].bytes);
    if (!o) return {};
    source_.notrack = has_notrack(*o);
    if (o->is_memory(0)) {
      if (is_rip(o->all[0])) {
        source_.kind = JumpSource::Kind::kFixed;
      } else {
        from_memory(memory_of(o->all[0]), 8, jump_);
      }
    } else if (o->is_register(0)) {
      from_register(general_register(o->all[0].reg.value));
    }
    return std::move(source_);
  }

 private:
  // Goes back from the jump to the load of the register. A value that is only computed counts from a label.
  void from_register(uint8_t reg) {
    uint16_t wanted = bit(reg);
    std::optional<TargetAddr> address;  // that something is added to
    for (size_t i = jump_; i-- > 0 && jump_ - i < kFarthest && wanted != 0;) {
      if (code_.insns[i].insn.ends_flow()) break;
      const auto o = operands_of(code_.insns[i].bytes);
      if (!o || !(registers_changed(*o) & wanted)) continue;
      const uint8_t to = o->is_register(0) ? general_register(o->all[0].reg.value) : kNoRegister;
      if (to == kNoRegister || registers_changed(*o) != bit(to)) break;
      const auto without = static_cast<uint16_t>(wanted & ~bit(to));
      const ZydisDecodedOperand& from = o->all[1];
      switch (o->insn.mnemonic) {
        case ZYDIS_MNEMONIC_ADD:
          wanted |= o->is_register(1) ? bit(general_register(from.reg.value)) : 0;
          break;
        case ZYDIS_MNEMONIC_LEA:
          wanted = without;
          if (is_rip(from)) {
            address = code_.insns[i].insn.rip_target;
          } else if (is_sum(from)) {
            wanted |= static_cast<uint16_t>(bit(general_register(from.mem.base)) |
                                            bit(general_register(from.mem.index)));
          }
          break;
        case ZYDIS_MNEMONIC_MOVSXD:
          if (o->is_memory(1)) return from_memory(memory_of(from), 4, i);
          wanted = without;
          break;
        case ZYDIS_MNEMONIC_MOV:
          if (o->is_memory(1) && !is_rip(from)) return from_memory(memory_of(from), 8, i);
          if (o->is_memory(1) && !address) source_.kind = JumpSource::Kind::kFixed;
          wanted = without;
          if (o->is_register(1)) wanted |= bit(general_register(from.reg.value));
          break;
        default:  // it is computed
          wanted = without;
      }
    }
    if (address) from_label(*address);
  }

  void from_label(TargetAddr label) {
    source_.kind = JumpSource::Kind::kLabel;
    source_.tables = {label};
  }

  static uint16_t bit(uint8_t reg) { return reg == kNoRegister ? 0 : static_cast<uint16_t>(1 << reg); }

  void from_memory(const Memory& m, uint8_t entry, size_t user) {
    if (m.index == kNoRegister || m.scale != entry) return;
    source_.kind = entry == 4 ? JumpSource::Kind::kDistances : JumpSource::Kind::kPointers;
    if (m.base == kNoRegister) {
      source_.tables.push_back(TargetAddr(static_cast<uint64_t>(m.displacement)));
      return;
    }
    for (const int64_t address : addresses_in(m.base, user))
      source_.tables.push_back(
          TargetAddr(static_cast<uint64_t>(address) + static_cast<uint64_t>(m.displacement)));
  }

  // The values that the register may have at `user`: the address before it in the same run, or any that the
  // function ever puts there.
  std::vector<int64_t> addresses_in(uint8_t reg, size_t user) const {
    for (size_t i = user; i-- > 0 && user - i < kFarthest && !code_.insns[i].insn.ends_flow();)
      if (const auto address = address_put(i, reg)) return {*address};
    std::vector<int64_t> all;
    for (size_t i = 0; i < code_.insns.size(); ++i)
      if (const auto address = address_put(i, reg)) all.push_back(*address);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // lea address(%rip), reg; mov $address, reg.
  std::optional<int64_t> address_put(size_t i, uint8_t reg) const {
    const Insn& insn = code_.insns[i].insn;
    if (insn.lea_width == 64 && insn.rip_relative && insn.lea_register == reg)
      return static_cast<int64_t>(insn.rip_target.value);
    if (insn.mnemonic != "mov" || insn.touches_memory || !(insn.registers_written >> reg & 1))
      return std::nullopt;
    const auto o = operands_of(code_.insns[i].bytes);
    return o && o->is_immediate(1) ? std::optional(o->all[1].imm.value.s) : std::nullopt;
  }

  const FunctionCode& code_;
  size_t jump_;
  JumpSource source_;
};

}  // namespace

std::optional<TargetAddr> immediate_address(const FlowInsn& insn) {
  if (insn.insn.mnemonic != "mov" || insn.bytes.size() < 5) return std::nullopt;
  const auto o = operands_of(insn.bytes);
  if (!o || !o->is_immediate(1)) return std::nullopt;
  return TargetAddr(o->all[1].imm.value.u);
}

JumpSource jump_source(const FunctionCode& code, size_t jump) { return JumpSourceFinder(code, jump).run(); }

}  // namespace blip::x86
