// SPDX-License-Identifier: MIT
// For tests only: random instructions of all kinds that Zydis can encode and that a test can run: memory
// operands lie in a given buffer or near rsp, nothing leaves the straight path except by a branch forward.
#pragma once

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/addr.h"
#include "x86/decode.h"
#include "x86/relocate.h"

namespace blip::x86::test {

// The registers that generated code may use for memory operands; it never writes them.
struct CodeContext {
  uint8_t base = 3;   // points to the middle of the data
  uint8_t index = 5;  // a small number
  TargetAddr data;    // the middle
};

class RandomCode {
 public:
  explicit RandomCode(std::mt19937_64& random) : random_(random) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  static constexpr int64_t kReach = 0x200;  // of displacements from the base
  static constexpr uint64_t kMaxIndex = 16;
  // With a dozen pushes still in the red zone as it was at the start.
  static constexpr int64_t kBelowStack = 0x20;

  // One instruction for the address `at`.
  std::vector<uint8_t> next(TargetAddr at, const CodeContext& context);
  // Notes whether the CPU knew this instruction: kinds that it never knows are not made any more.
  void note(std::span<const uint8_t> bytes, bool known);
  uint64_t pick(uint64_t below) { return random_() % below; }

 private:
  struct Decoded {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  };

  std::array<uint8_t, 24> random_bytes();
  std::optional<Decoded> decode_raw(std::span<const uint8_t> bytes) const;
  std::optional<std::vector<uint8_t>> encode(const Decoded& d, TargetAddr at, const CodeContext& context);
  void place_memory(ZydisEncoderOperand& o, bool is_agen, const CodeContext& context);
  bool acceptable(std::span<const uint8_t> bytes, TargetAddr at, const CodeContext& context) const;
  bool acceptable_memory(const Decoded& d, const ZydisDecodedOperand& o, const CodeContext& context) const;
  bool acceptable_register(const Decoded& d, const ZydisDecodedOperand& o, const CodeContext& context) const;

  std::mt19937_64& random_;
  ZydisDecoder decoder_;
  struct Experience {
    int known = 0, unknown = 0;
  };
  bool is_hopeless(int isa_set) const {
    const auto it = experience_.find(isa_set);
    return it != experience_.end() && it->second.known == 0 && it->second.unknown >= 4;
  }
  std::map<int, Experience> experience_;  // by ISA set
};

// Raw bytes of one of the encodings' forms; most of them are instructions.
inline std::array<uint8_t, 24> RandomCode::random_bytes() {
  std::array<uint8_t, 24> bytes;
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random_());
  size_t at = 0;
  const auto put = [&](unsigned b) { bytes[at++] = static_cast<uint8_t>(b); };
  const uint64_t form = pick(10);
  if (form < 6) {  // legacy
    if (pick(5) == 0) put(0x66);
    if (pick(8) == 0) put(pick(2) ? 0xf2 : 0xf3);
    if (pick(30) == 0) put(0xf0);
    if (pick(30) == 0) put(0x67);
    if (pick(2) == 0) put(0x40 | pick(16));
    if (form >= 3) put(0x0f);
    if (form == 5) put(pick(2) ? 0x38 : 0x3a);
    if (form == 2) put(0xd8 | pick(8));  // x87
  } else if (form < 8) {
    if (pick(3) == 0) {
      put(0xc5);
    } else {
      put(0xc4);
      put((random_() & 0xe0) | (1 + pick(3)));
    }
  } else {
    put(0x62);
    put((random_() & 0xf0) | (1 + pick(3)));
    put(random_() | 0x04);
  }
  return bytes;
}

inline std::optional<RandomCode::Decoded> RandomCode::decode_raw(std::span<const uint8_t> bytes) const {
  Decoded d;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &d.insn, d.operands)))
    return std::nullopt;
  return d;
}

inline uint8_t register_number(ZydisRegister r) {
  const ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  return static_cast<uint8_t>(ZydisRegisterGetId(wide));
}

inline bool is_general(ZydisRegister r) {
  const ZydisRegisterClass c = ZydisRegisterGetClass(r);
  return c == ZYDIS_REGCLASS_GPR8 || c == ZYDIS_REGCLASS_GPR16 || c == ZYDIS_REGCLASS_GPR32 ||
         c == ZYDIS_REGCLASS_GPR64;
}

// Leads a memory operand to the data or the stack.
inline void RandomCode::place_memory(ZydisEncoderOperand& o, bool is_agen, const CodeContext& context) {
  const auto reg64 = [](uint8_t n) { return static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + n); };
  const int64_t align = pick(2) ? 64 : 1;
  int64_t disp = static_cast<int64_t>(pick(2 * kReach)) - kReach;
  disp = pick(8) == 0 ? 0 : disp / align * align;
  o.mem.index = ZYDIS_REGISTER_NONE;
  o.mem.scale = 0;
  o.mem.displacement = disp;
  switch (pick(is_agen ? 5 : 4)) {
    case 0:
      o.mem.base = ZYDIS_REGISTER_RIP;
      o.mem.displacement = static_cast<int64_t>(context.data.value) + disp;
      return;
    case 1:
      o.mem.base = ZYDIS_REGISTER_RSP;
      o.mem.displacement = static_cast<int64_t>(pick(0xe0)) - kBelowStack;
      return;
    case 2:
      o.mem.index = reg64(context.index);
      o.mem.scale = static_cast<uint8_t>(1 << pick(4));
      [[fallthrough]];
    case 3:
      o.mem.base = reg64(context.base);
      return;
    default:  // lea of anything
      o.mem.base = reg64(static_cast<uint8_t>(pick(16)));
  }
}

inline std::optional<std::vector<uint8_t>> RandomCode::encode(const Decoded& d, TargetAddr at,
                                                              const CodeContext& context) {
  ZydisEncoderRequest request;
  if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(&d.insn, d.operands,
                                                                   d.insn.operand_count_visible, &request)))
    return std::nullopt;
  for (unsigned i = 0; i < request.operand_count; ++i)
    if (request.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
      place_memory(request.operands[i], d.operands[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN, context);
  std::vector<uint8_t> bytes(ZYDIS_MAX_INSTRUCTION_LENGTH);
  ZyanUSize length = bytes.size();
  if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstructionAbsolute(&request, bytes.data(), &length, at.value)))
    return std::nullopt;
  bytes.resize(length);
  return bytes;
}

inline bool RandomCode::acceptable_memory(const Decoded& d, const ZydisDecodedOperand& o,
                                          const CodeContext& context) const {
  if (o.mem.type == ZYDIS_MEMOP_TYPE_AGEN) return true;
  if (o.mem.type != ZYDIS_MEMOP_TYPE_MEM || o.mem.segment == ZYDIS_REGISTER_FS ||
      o.mem.segment == ZYDIS_REGISTER_GS)
    return false;
  const bool is_stack =
      d.insn.meta.category == ZYDIS_CATEGORY_PUSH || d.insn.meta.category == ZYDIS_CATEGORY_POP;
  if (o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o.mem.base == ZYDIS_REGISTER_RSP) return is_stack;
  if (o.mem.base == ZYDIS_REGISTER_RIP) return o.mem.index == ZYDIS_REGISTER_NONE;  // placed by us
  if (!is_general(o.mem.base)) return false;
  const uint8_t base = register_number(o.mem.base);
  if (base == 4)
    return o.mem.index == ZYDIS_REGISTER_NONE && o.mem.disp.value >= -kBelowStack && o.mem.disp.value < 0xc0;
  if (base != context.base || o.mem.disp.value < -kReach || o.mem.disp.value > kReach) return false;
  return o.mem.index == ZYDIS_REGISTER_NONE ||
         (is_general(o.mem.index) && o.size >= 1 && register_number(o.mem.index) == context.index &&
          o.mem.index >= ZYDIS_REGISTER_EAX);
}

inline bool RandomCode::acceptable_register(const Decoded& d, const ZydisDecodedOperand& o,
                                            const CodeContext& context) const {
  const bool written = o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
  if (ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_SEGMENT) return !written;
  if (!written || !is_general(o.reg.value)) return true;
  const uint8_t number = register_number(o.reg.value);
  const bool is_stack =
      d.insn.meta.category == ZYDIS_CATEGORY_PUSH || d.insn.meta.category == ZYDIS_CATEGORY_POP;
  if (number == 4) return is_stack && o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  return number != context.base && number != context.index;
}

// Not the same twice, or able to break the test itself.
inline bool is_unfit(const ZydisDecodedInstruction& z) {
  switch (z.meta.category) {
    case ZYDIS_CATEGORY_CLZERO:
    case ZYDIS_CATEGORY_ENQCMD:
    case ZYDIS_CATEGORY_HRESET:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_PADLOCK:
    case ZYDIS_CATEGORY_PCONFIG:
    case ZYDIS_CATEGORY_PKU:
    case ZYDIS_CATEGORY_RDPID:
    case ZYDIS_CATEGORY_RDPRU:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_STRINGOP:  // see RandomProgram
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_WAITPKG:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
      return true;
    default:
      break;
  }
  switch (z.mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:  // slow in virtual machines
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_FLDENV:  // pending exceptions
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FNSAVE:  // store the address of the last x87 instruction
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_POPF:  // traps, alignment checks
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
      return true;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
      return (z.attributes & ZYDIS_ATTRIB_HAS_MODRM) && z.raw.modrm.mod != 3 && z.opcode != 0xba;
    default:
      return false;
  }
}

inline bool RandomCode::acceptable(std::span<const uint8_t> bytes, TargetAddr at,
                                   const CodeContext& context) const {
  const auto insn = x86::decode(bytes, at);
  const auto d = decode_raw(bytes);
  if (!insn || !d || insn->flow != Flow::kNext || insn->is_privileged || is_unfit(d->insn) ||
      is_hopeless(d->insn.meta.isa_set))
    return false;
  for (unsigned i = 0; i < d->insn.operand_count; ++i) {
    const ZydisDecodedOperand& o = d->operands[i];
    if (o.type == ZYDIS_OPERAND_TYPE_POINTER) return false;
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY && !acceptable_memory(*d, o, context)) return false;
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER && !acceptable_register(*d, o, context)) return false;
  }
  constexpr uint64_t kAnywhereNear = 0x10000;
  return relocate(bytes, at, at + kAnywhereNear).has_value();
}

inline std::vector<uint8_t> RandomCode::next(TargetAddr at, const CodeContext& context) {
  for (;;) {
    const auto d = decode_raw(random_bytes());
    if (!d || is_unfit(d->insn) || is_hopeless(d->insn.meta.isa_set)) continue;
    const auto bytes = encode(*d, at, context);
    if (bytes && acceptable(*bytes, at, context)) return *bytes;
  }
}

inline void RandomCode::note(std::span<const uint8_t> bytes, bool known) {
  const auto d = decode_raw(bytes);
  if (!d) return;
  Experience& e = experience_[d->insn.meta.isa_set];
  ++(known ? e.known : e.unknown);
}

}  // namespace blip::x86::test
