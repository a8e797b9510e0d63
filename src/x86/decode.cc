// SPDX-License-Identifier: MIT
#include "x86/decode.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>

#include "x86/decoder.h"
#include "x86/operands.h"

namespace blip::x86 {
namespace {

static_assert(kStatusFlags == (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
                               ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF));

using OperandList = std::span<const ZydisDecodedOperand>;

bool has_prefix(const ZydisDecodedInstruction& z, uint8_t value) {
  auto* end = z.raw.prefixes + z.raw.prefix_count;
  return std::any_of(z.raw.prefixes, end, [&](const auto& prefix) { return prefix.value == value; });
}

Flow transfer_flow(const ZydisDecodedInstruction& z, const ZydisDecodedOperand& first, Flow direct,
                   Flow indirect) {
  if (z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return Flow::kOther;
  return first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? direct : indirect;
}

Flow flow_by_category(const ZydisDecodedInstruction& z) {
  switch (z.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
      return Flow::kOther;  // those that matter were named before
    case ZYDIS_CATEGORY_INTERRUPT:
      return Flow::kTrap;
    default:
      return Flow::kNext;
  }
}

bool is_jcc(const ZydisDecodedInstruction& z) {
  if (z.meta.category != ZYDIS_CATEGORY_COND_BR) return false;
  bool short_form = z.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (z.opcode & 0xf0) == 0x70;
  bool near_form = z.opcode_map == ZYDIS_OPCODE_MAP_0F && (z.opcode & 0xf0) == 0x80;
  return short_form || near_form;
}

Flow flow_of(const ZydisDecodedInstruction& z, const ZydisDecodedOperand& first) {
  switch (z.mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
      return transfer_flow(z, first, Flow::kJump, Flow::kIndirectJump);
    case ZYDIS_MNEMONIC_CALL:
      return transfer_flow(z, first, Flow::kCall, Flow::kIndirectCall);
    case ZYDIS_MNEMONIC_RET:
      return z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? Flow::kOther : Flow::kReturn;
    case ZYDIS_MNEMONIC_SYSCALL:
      return Flow::kSyscall;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
      return Flow::kCondJump;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INTO:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return Flow::kTrap;
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
      return Flow::kOther;
    default:
      return is_jcc(z) ? Flow::kCondJump : flow_by_category(z);
  }
}

// Shifts by a count of zero and repeated compares of zero elements leave the flags alone.
bool may_leave_flags(const ZydisDecodedInstruction& z, OperandList operands) {
  switch (z.meta.category) {
    case ZYDIS_CATEGORY_STRINGOP:
      return has_prefix(z, 0xf2) || has_prefix(z, 0xf3);
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
      break;
    default:
      return false;
  }
  uint64_t mask = z.operand_width == 64 ? 0x3f : 0x1f;
  return std::any_of(operands.begin(), operands.end(), [&](const ZydisDecodedOperand& o) {
    if (o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return (o.imm.value.u & mask) == 0;
    return o.type == ZYDIS_OPERAND_TYPE_REGISTER && o.reg.value == ZYDIS_REGISTER_CL && o.id > 0;
  });
}

// Some processors leave alone the flags that the manual calls undefined (bsf, mul, div, bt). Logic and shifts
// write them everywhere.
uint32_t overwritten_if_undefined(const ZydisDecodedInstruction& z, const ZydisAccessedFlags& f) {
  const bool known = z.meta.category == ZYDIS_CATEGORY_LOGICAL || z.meta.category == ZYDIS_CATEGORY_SHIFT;
  return known ? f.undefined : 0;
}

void set_flags(Insn& insn, const ZydisDecodedInstruction& z, OperandList operands) {
  if (insn.flow == Flow::kSyscall) {  // r11 gets them, and sysret puts them back
    insn.flags_read = kStatusFlags;
    insn.reads_flags = true;
    return;
  }
  if (!z.cpu_flags) return;
  insn.flags_read = z.cpu_flags->tested & kStatusFlags;
  insn.reads_flags = insn.flags_read != 0;
  if (may_leave_flags(z, operands)) return;
  const ZydisAccessedFlags& f = *z.cpu_flags;
  insn.flags_written = (f.modified | f.set_0 | f.set_1 | overwritten_if_undefined(z, f)) & kStatusFlags;
}

uint16_t find_register_bit(ZydisRegister r) {
  switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_GPR8:
      if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
        return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_AH));
      if (r >= ZYDIS_REGISTER_SPL) return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_SPL + 4));
      return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_AL));
    case ZYDIS_REGCLASS_GPR16:
      return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_AX));
    case ZYDIS_REGCLASS_GPR32:
      return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_EAX));
    case ZYDIS_REGCLASS_GPR64:
      return static_cast<uint16_t>(1 << (r - ZYDIS_REGISTER_RAX));
    default:
      return 0;
  }
}

bool find_is_vector(ZydisRegister r) {
  switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
    case ZYDIS_REGCLASS_MASK:
      return true;
    default:
      return false;
  }
}

// Asked several times for each instruction, of which a large program has tens of millions.
struct RegisterTable {
  std::array<uint16_t, ZYDIS_REGISTER_MAX_VALUE + 1> bits{};
  std::array<bool, ZYDIS_REGISTER_MAX_VALUE + 1> vector{};

  RegisterTable() {
    for (size_t i = 0; i < bits.size(); ++i) {
      bits[i] = find_register_bit(static_cast<ZydisRegister>(i));
      vector[i] = find_is_vector(static_cast<ZydisRegister>(i));
    }
  }
};

const RegisterTable& registers() {
  static const RegisterTable table;
  return table;
}

uint16_t register_bit(ZydisRegister r) { return registers().bits[r]; }

// Kinds of instructions whose operands, hidden ones included, tell all about their use of registers. Others
// may use registers that no table lists (system calls, enclaves, transactions).
bool operands_tell_all(const ZydisDecodedInstruction& z) {
  switch (z.meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_BITALG:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_CONFLICT:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_EXPAND:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_IFMA:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SCATTER:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VEX:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_X87_ALU:
      return true;
    case ZYDIS_CATEGORY_MISC:
      return z.mnemonic == ZYDIS_MNEMONIC_LEA || z.mnemonic == ZYDIS_MNEMONIC_LEAVE ||
             z.mnemonic == ZYDIS_MNEMONIC_CPUID || z.mnemonic == ZYDIS_MNEMONIC_PAUSE;
    default:
      return z.mnemonic == ZYDIS_MNEMONIC_RDTSC || z.mnemonic == ZYDIS_MNEMONIC_RDTSCP ||
             z.mnemonic == ZYDIS_MNEMONIC_ENDBR64;  // rdssp without shadow stacks is a nop
  }
}

// xor r, r and sub r, r: the result does not depend on r.
bool is_zeroing(const ZydisDecodedInstruction& z, OperandList operands) {
  if (z.mnemonic != ZYDIS_MNEMONIC_XOR && z.mnemonic != ZYDIS_MNEMONIC_SUB) return false;
  return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[0].reg.value == operands[1].reg.value && operands[0].size >= 32;
}

// bsf and bsr of zero, and repeated strings of no elements, leave the destination alone.
bool may_leave_registers(const ZydisDecodedInstruction& z) {
  if (z.mnemonic == ZYDIS_MNEMONIC_BSF || z.mnemonic == ZYDIS_MNEMONIC_BSR) return true;
  return z.meta.category == ZYDIS_CATEGORY_STRINGOP && (has_prefix(z, 0xf2) || has_prefix(z, 0xf3));
}

void set_registers(Insn& insn, const ZydisDecodedInstruction& z, OperandList operands) {
  if (!operands_tell_all(z)) {
    insn.registers_read = insn.registers_changed = 0xffff;
    return;
  }
  uint16_t written = 0;
  for (const ZydisDecodedOperand& o : operands) {
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY)
      insn.registers_read |= register_bit(o.mem.base) | register_bit(o.mem.index);
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const uint16_t bit = register_bit(o.reg.value);
    if (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) insn.registers_read |= bit;
    if (o.actions & ZYDIS_OPERAND_ACTION_WRITE && o.size >= 32) written |= bit;
    if (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) insn.registers_changed |= bit;
  }
  if (is_zeroing(z, operands)) insn.registers_read = 0;
  if (!may_leave_registers(z)) insn.registers_written = written;
}

bool is_rsp(ZydisRegister r) {
  return r == ZYDIS_REGISTER_RSP || r == ZYDIS_REGISTER_ESP || r == ZYDIS_REGISTER_SP ||
         r == ZYDIS_REGISTER_SPL;
}

bool is_vector(ZydisRegister r) { return registers().vector[r]; }

// Also those that name no register: fninit, emms, fxsave, xsave, vzeroupper. A few others, like crc32, count
// too.
bool is_vector(const ZydisDecodedInstruction& z) {
  switch (z.meta.category) {
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
      return true;
    default:
      return false;
  }
}

// The thread's own block, at an offset from fs that the linker has chosen.
bool is_thread_local(const ZydisDecodedOperand& o) {
  constexpr int64_t kFar = 64 << 10;
  return o.mem.segment == ZYDIS_REGISTER_FS && o.mem.base == ZYDIS_REGISTER_NONE &&
         o.mem.index == ZYDIS_REGISTER_NONE && o.mem.disp.value > -kFar && o.mem.disp.value < kFar;
}

bool memory_is_there(const ZydisDecodedInstruction& z, const ZydisDecodedOperand& o) {
  if (o.mem.base == ZYDIS_REGISTER_RIP || is_rsp(o.mem.base) || is_thread_local(o)) return true;
  return z.meta.category == ZYDIS_CATEGORY_PREFETCH || z.mnemonic == ZYDIS_MNEMONIC_LEAVE;
}

void set_memory_operand(Insn& insn, const ZydisDecodedInstruction& z, const ZydisDecodedOperand& o) {
  if (o.mem.type != ZYDIS_MEMOP_TYPE_AGEN && !insn.is_nop) {
    insn.touches_memory = true;
    insn.writes_memory |= (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    insn.may_fault |= !memory_is_there(z, o);
  }
  if (o.mem.base != ZYDIS_REGISTER_RIP && o.mem.base != ZYDIS_REGISTER_EIP) return;
  insn.rip_relative = true;
  insn.disp_offset = z.raw.disp.offset;
  insn.rip_target = insn.end() + static_cast<uint64_t>(o.mem.disp.value);
}

bool raises_pending(ZydisRegister r) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(r);
  return kind == ZYDIS_REGCLASS_X87 || kind == ZYDIS_REGCLASS_MMX;
}

// Moves and logic of vectors never raise one. Instructions on x87 and MMX registers raise what an earlier one
// has left.
bool may_have_no_result(const ZydisDecodedInstruction& z) {
  switch (z.meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_SSE2:
    case ZYDIS_EXCEPTION_CLASS_SSE3:
    case ZYDIS_EXCEPTION_CLASS_AVX2:
    case ZYDIS_EXCEPTION_CLASS_AVX3:
    case ZYDIS_EXCEPTION_CLASS_AVX11:
    case ZYDIS_EXCEPTION_CLASS_E2:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E11:
    case ZYDIS_EXCEPTION_CLASS_E11NF:
      return true;
    default:
      break;
  }
  return z.mnemonic == ZYDIS_MNEMONIC_DIV || z.mnemonic == ZYDIS_MNEMONIC_IDIV;
}

void set_operand(Insn& insn, const ZydisDecodedInstruction& z, const ZydisDecodedOperand& o) {
  bool visible = o.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
  switch (o.type) {
    case ZYDIS_OPERAND_TYPE_MEMORY:
      set_memory_operand(insn, z, o);
      insn.uses_rsp |= visible && (is_rsp(o.mem.base) || is_rsp(o.mem.index));
      return;
    case ZYDIS_OPERAND_TYPE_REGISTER:
      insn.uses_rsp |= visible && is_rsp(o.reg.value);
      insn.uses_vector |= is_vector(o.reg.value);
      insn.may_have_no_result |= raises_pending(o.reg.value);
      return;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      if (o.imm.is_relative) insn.target = insn.end() + o.imm.value.u;
      return;
    default:
      return;
  }
}

void set_prefixes(Insn& insn, const ZydisDecodedInstruction& z) {
  if (z.raw.prefix_count == 0) return;
  insn.addr32 = has_prefix(z, 0x67);
  insn.operand16 = has_prefix(z, 0x66) && !z.raw.rex.W;
  insn.has_bnd = has_prefix(z, 0xf2);
}

void set_lea(Insn& insn, const ZydisDecodedInstruction& z, const ZydisDecodedOperand& first) {
  if (z.mnemonic != ZYDIS_MNEMONIC_LEA) return;
  insn.lea_width = z.operand_width;
  insn.lea_register = static_cast<uint8_t>(ZydisRegisterGetId(first.reg.value));
}

}  // namespace

std::optional<Insn> decode(std::span<const uint8_t> bytes, TargetAddr at) {
  Operands decoded;
  return decode(bytes, at, decoded);
}

std::optional<Insn> decode(std::span<const uint8_t> bytes, TargetAddr at, Operands& decoded) {
  ZydisDecoderContext context;
  ZydisDecodedInstruction& z = decoded.insn;
  ZydisDecodedOperand* const operands = decoded.all.data();
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &context, bytes.data(), bytes.size(), &z)))
    return std::nullopt;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder(), &context, &z, operands, z.operand_count)))
    return std::nullopt;
  if (z.operand_count == 0) operands[0].type = ZYDIS_OPERAND_TYPE_UNUSED;
  Insn insn;
  insn.addr = at;
  insn.length = z.length;
  insn.flow = flow_of(z, operands[0]);
  insn.mnemonic = ZydisMnemonicGetString(z.mnemonic);
  insn.is_nop = z.mnemonic == ZYDIS_MNEMONIC_NOP;
  insn.is_endbr64 = z.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
  insn.is_loop_or_jrcxz = insn.flow == Flow::kCondJump && !is_jcc(z);
  insn.is_privileged = (z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
  insn.uses_vector = is_vector(z);
  insn.may_have_no_result = may_have_no_result(z) || z.meta.category == ZYDIS_CATEGORY_X87_ALU;
  insn.modrm_offset = z.attributes & ZYDIS_ATTRIB_HAS_MODRM ? z.raw.modrm.offset : 0;
  insn.condition = is_jcc(z) ? z.opcode & 0x0f : 0;
  for (unsigned i = 0; i < z.operand_count; ++i) set_operand(insn, z, operands[i]);
  set_flags(insn, z, {operands, z.operand_count});
  set_registers(insn, z, {operands, z.operand_count});
  set_prefixes(insn, z);
  set_lea(insn, z, operands[0]);
  return insn;
}

}  // namespace blip::x86
