// SPDX-License-Identifier: MIT
#include "x86/flow/argument_uses.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "x86/operands.h"

namespace blip::x86 {
namespace {

constexpr size_t kMostInstructions = 256;

bool is_read(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0; }
bool is_written(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0; }

// A result that does not depend on the operands: xor eax, eax; pcmpeqd xmm0, xmm0; mov edi, edi. Compilers
// push rax to move rsp.
bool is_idiom(const Operands& o) {
  switch (o.insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      return o.is_register(0) && o.all[0].reg.value == ZYDIS_REGISTER_RAX;
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_ENDBR64:
      return true;
    case ZYDIS_MNEMONIC_OR:
      return o.is_immediate(1) && o.all[1].imm.value.s == -1;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_PSUBB:
    case ZYDIS_MNEMONIC_PSUBW:
    case ZYDIS_MNEMONIC_PSUBD:
    case ZYDIS_MNEMONIC_PSUBQ:
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQW:
    case ZYDIS_MNEMONIC_PCMPEQD:
    case ZYDIS_MNEMONIC_PCMPEQQ:
      return o.is_register(0) && o.is_register(1) && o.all[0].reg.value == o.all[1].reg.value;
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_VPCMPEQD:
      return o.is_register(1) && o.is_register(2) && o.all[1].reg.value == o.all[2].reg.value;
    default:
      return false;
  }
}

// Instructions on the lowest number of a vector keep the others of their destination, which nobody asked for.
// Behind VEX that is the first of two sources.
std::optional<unsigned> merged_operand(const Operands& o) {
  switch (o.insn.mnemonic) {
    case ZYDIS_MNEMONIC_CVTSI2SS:
    case ZYDIS_MNEMONIC_CVTSI2SD:
    case ZYDIS_MNEMONIC_CVTSS2SD:
    case ZYDIS_MNEMONIC_CVTSD2SS:
    case ZYDIS_MNEMONIC_SQRTSS:
    case ZYDIS_MNEMONIC_SQRTSD:
    case ZYDIS_MNEMONIC_RSQRTSS:
    case ZYDIS_MNEMONIC_RCPSS:
    case ZYDIS_MNEMONIC_ROUNDSS:
    case ZYDIS_MNEMONIC_ROUNDSD:
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVLPS:
    case ZYDIS_MNEMONIC_MOVHPS:
    case ZYDIS_MNEMONIC_MOVLPD:
    case ZYDIS_MNEMONIC_MOVHPD:
      return 0;
    case ZYDIS_MNEMONIC_VCVTSI2SS:
    case ZYDIS_MNEMONIC_VCVTSI2SD:
    case ZYDIS_MNEMONIC_VCVTSS2SD:
    case ZYDIS_MNEMONIC_VCVTSD2SS:
    case ZYDIS_MNEMONIC_VSQRTSS:
    case ZYDIS_MNEMONIC_VSQRTSD:
    case ZYDIS_MNEMONIC_VROUNDSS:
    case ZYDIS_MNEMONIC_VROUNDSD:
      return 1;
    default:
      return std::nullopt;
  }
}

uint16_t general_bit(ZydisRegister r) {
  const uint8_t n = general_register(r);
  return n == kNoRegister ? uint16_t{0} : static_cast<uint16_t>(1U << n);
}

uint16_t vector_bit(ZydisRegister r) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(r);
  if (kind != ZYDIS_REGCLASS_XMM && kind != ZYDIS_REGCLASS_YMM && kind != ZYDIS_REGCLASS_ZMM) return 0;
  const auto id = ZydisRegisterGetId(r);
  return id >= 0 && id < 16 ? static_cast<uint16_t>(1U << id) : uint16_t{0};
}

ArgumentUses reads_of(const Operands& o, const ArgumentUses& at_return) {
  ArgumentUses reads;
  if (is_idiom(o)) return reads;
  if (o.insn.meta.category == ZYDIS_CATEGORY_RET) return at_return;
  const auto merged = merged_operand(o);
  for (unsigned i = 0; i < o.insn.operand_count; ++i) {
    const ZydisDecodedOperand& operand = o.all[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      reads.general |= general_bit(operand.mem.base) | general_bit(operand.mem.index);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_read(operand) && merged != i) {
      reads.general |= general_bit(operand.reg.value);
      reads.vectors |= vector_bit(operand.reg.value);
    }
  }
  return reads;
}

// A general register of 8 or 16 bits keeps what is above.
ArgumentUses writes_of(const Operands& o) {
  ArgumentUses writes;
  for (const ZydisDecodedOperand& operand : o.each()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !is_written(operand)) continue;
    if (operand.size >= 32) writes.general |= general_bit(operand.reg.value);
    writes.vectors |= vector_bit(operand.reg.value);
  }
  return writes;
}

// The offset, from the beginning of the code, to which a direct jump leads; nullopt if it leads elsewhere.
std::optional<size_t> target_of(const Operands& o, size_t at, size_t size) {
  if (!o.is_immediate(0) || !o.all[0].imm.is_relative) return std::nullopt;
  const auto to = static_cast<int64_t>(at) + o.insn.length + o.all[0].imm.value.s;
  return to >= 0 && static_cast<size_t>(to) < size ? std::optional(static_cast<size_t>(to)) : std::nullopt;
}

class Walk {
 public:
  Walk(std::span<const uint8_t> code, const ArgumentUses& at_return) : code_(code), at_return_(at_return) {}

  ArgumentUses run() && {
    ways_.push_back({});
    while (!ways_.empty() && seen_.size() < kMostInstructions) {
      const Way way = ways_.back();
      ways_.pop_back();
      follow(way);
    }
    return uses_;
  }

 private:
  struct Way {
    size_t at = 0;
    ArgumentUses written;
  };

  void follow(Way way) {
    while (seen_.size() < kMostInstructions && way.at < code_.size() && seen_.insert(way.at).second) {
      const auto o = operands_of(code_.subspan(way.at));
      if (!o) return;
      const ArgumentUses reads = reads_of(*o, at_return_), writes = writes_of(*o);
      uses_.general |= reads.general & ~way.written.general;
      uses_.vectors |= reads.vectors & ~way.written.vectors;
      way.written.general |= writes.general;
      way.written.vectors |= writes.vectors;
      if (!go_on(*o, way)) return;
    }
  }

  bool go_on(const Operands& o, Way& way) {
    const auto target = target_of(o, way.at, code_.size());
    const size_t next = way.at + o.insn.length;
    switch (o.insn.meta.category) {
      case ZYDIS_CATEGORY_COND_BR:
        if (target) ways_.push_back({*target, way.written});
        way.at = next;
        return true;
      case ZYDIS_CATEGORY_UNCOND_BR:
        way.at = target.value_or(0);
        return target.has_value();
      case ZYDIS_CATEGORY_CALL:
      case ZYDIS_CATEGORY_RET:
      case ZYDIS_CATEGORY_INTERRUPT:
      case ZYDIS_CATEGORY_SYSCALL:
        return false;
      default:
        way.at = next;
        return true;
    }
  }

  std::span<const uint8_t> code_;
  const ArgumentUses& at_return_;
  ArgumentUses uses_;
  std::vector<Way> ways_;
  std::set<size_t> seen_;
};

}  // namespace

uint32_t widest_vector(std::span<const uint8_t> code) {
  uint32_t widest = 0;
  for (size_t at = 0; at < code.size();) {
    const auto o = operands_of(code.subspan(at));
    if (!o) break;
    for (const ZydisDecodedOperand& operand : o->each())
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && vector_bit(operand.reg.value) != 0)
        widest = std::max<uint32_t>(widest,
                                    ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) / 8);
    at += o->insn.length;
  }
  return widest;
}

ArgumentUses argument_uses(std::span<const uint8_t> code, const ArgumentUses& at_return) {
  return Walk(code, at_return).run();
}

}  // namespace blip::x86
