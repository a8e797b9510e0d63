// SPDX-License-Identifier: MIT
#include "x86/relocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "x86/code_writer.h"
#include "x86/decode.h"

// Every instruction is copied as it is except those that know where they are:
//
//   disp32 from rip            the same bytes, new disp32; lea out of reach becomes mov reg, imm
//   jmp, jcc                   E9 rel32, 0F 8x rel32, whatever the form was
//   loop, jrcxz                loop 1f; jmp 2f; 1: jmp target; 2:
//   call target                push original return address; jmp target
//   call reg/[mem]             push original return address; jmp reg/[mem]
//
// All forms have a fixed size, so one pass lays them out; branches to instructions of the window itself are
// filled in at the end, when their copies have a place.

namespace blip::x86 {
namespace {

class Relocator {
 public:
  Relocator(std::span<const uint8_t> window, TargetAddr from, TargetAddr to, const RelocateOptions& options)
      : window_(window), from_(from), options_(options), out_(to) {}

  Result<Relocated> run();

 private:
  struct Fixup {
    size_t rel32_at;  // in the copy
    uint8_t goal;     // original offset
    TargetAddr branch;
  };

  Status check(const Insn& insn, bool last) const;
  Status move(const Insn& insn);
  Status copy(const Insn& insn);
  Status move_lea(const Insn& insn);
  Status copy_with_modrm_reg(const Insn& insn, std::optional<uint8_t> reg);
  Status jump(const Insn& insn);
  Status conditional_jump(const Insn& insn);
  Status loop(const Insn& insn);
  Status call(const Insn& insn);
  Status indirect_call(const Insn& insn);
  Status branch_rel32(const Insn& insn);
  void push_return_address(TargetAddr address);
  Status resolve_fixups();

  std::span<const uint8_t> bytes_of(const Insn& insn) const {
    return window_.subspan(insn.addr - from_, insn.length);
  }

  std::span<const uint8_t> window_;
  TargetAddr from_;
  RelocateOptions options_;
  CodeWriter out_;
  Relocated result_;
  std::vector<Fixup> fixups_;
};

Error refuse(std::string reason) { return Error(ErrorKind::kUnsupported, std::move(reason)); }

Error refuse_far(const Insn& insn) {
  return refuse(
      fmt::format("{} at {:#x} refers to memory out of reach of the pad", insn.mnemonic, insn.addr.value));
}

// Why no copy of this instruction can be right, wherever it stands.
std::optional<std::string> immovable(const Insn& insn) {
  if (insn.is_privileged) return "privileged instruction";
  if (insn.flow == Flow::kTrap) return "trap instruction";
  if (insn.flow == Flow::kOther) return "control transfer of a rare kind";
  if (insn.flow != Flow::kNext && insn.operand16 && insn.target) return "branch with an operand-size prefix";
  if (insn.rip_relative && insn.addr32) return "operand relative to eip";
  return std::nullopt;
}

// Why this one may only end a window: a thread can be parked behind it, or what follows is entered from
// elsewhere.
std::optional<std::string> must_be_last(const Insn& insn) {
  switch (insn.flow) {
    case Flow::kCall:
    case Flow::kIndirectCall:
      return "call in the middle of the replaced bytes";
    case Flow::kSyscall:
      return "system call in the middle of the replaced bytes";
    case Flow::kReturn:
      return "return in the middle of the replaced bytes";
    case Flow::kJump:
    case Flow::kIndirectJump:
      return "jump in the middle of the replaced bytes";
    default:
      return std::nullopt;
  }
}

Status Relocator::check(const Insn& insn, bool last) const {
  if (auto why = immovable(insn)) return refuse(fmt::format("{} ({})", *why, insn.mnemonic));
  if (insn.is_endbr64 && insn.addr != from_)
    return refuse("target of indirect jumps among the replaced bytes");
  if (auto why = must_be_last(insn); why && !last) return refuse(*why);
  return {};
}

Status Relocator::move(const Insn& insn) {
  switch (insn.flow) {
    case Flow::kJump:
      return jump(insn);
    case Flow::kCondJump:
      return insn.is_loop_or_jrcxz ? loop(insn) : conditional_jump(insn);
    case Flow::kCall:
      return call(insn);
    case Flow::kIndirectCall:
      return indirect_call(insn);
    default:
      return copy(insn);
  }
}

Status Relocator::copy(const Insn& insn) {
  if (insn.rip_relative && insn.lea_width && !displacement(out_.here() + insn.length, insn.rip_target))
    return move_lea(insn);
  return copy_with_modrm_reg(insn, std::nullopt);
}

Status Relocator::copy_with_modrm_reg(const Insn& insn, std::optional<uint8_t> reg) {
  size_t start = out_.size();
  auto original = bytes_of(insn);
  std::vector<uint8_t> bytes(original.begin(), original.end());
  if (reg) bytes[insn.modrm_offset] = static_cast<uint8_t>((bytes[insn.modrm_offset] & 0xc7) | *reg << 3);
  out_.u8s(std::span<const uint8_t>(bytes));
  if (!insn.rip_relative) return {};
  auto disp = displacement(out_.here(), insn.rip_target);
  if (!disp) return refuse_far(insn);
  out_.patch_u32(start + insn.disp_offset, static_cast<uint32_t>(*disp));
  return {};
}

Status Relocator::move_lea(const Insn& insn) {
  uint8_t low = insn.lea_register & 7;
  bool high = insn.lea_register >= 8;
  if (insn.lea_width == 64) {
    out_.u8s({static_cast<uint8_t>(high ? 0x49 : 0x48), static_cast<uint8_t>(0xb8 | low)});  // mov r64, imm64
    out_.u64(insn.rip_target.value);
    return {};
  }
  if (insn.lea_width != 32) return refuse_far(insn);
  if (high) out_.u8(0x41);
  out_.u8(0xb8 | low);  // mov r32, imm32
  out_.u32(static_cast<uint32_t>(insn.rip_target.value));
  return {};
}

// Appends the rel32 of a branch whose opcode is already there.
Status Relocator::branch_rel32(const Insn& insn) {
  TargetAddr goal = *insn.target;
  if (AddrRange{from_ + 1, from_ + window_.size()}.contains(goal)) {
    fixups_.push_back({out_.size(), static_cast<uint8_t>(goal - from_), insn.addr});
    out_.u32(0);
    return {};
  }
  auto rel = displacement(out_.here() + 4, goal);
  if (!rel)
    return refuse(
        fmt::format("target of {} at {:#x} is out of reach of the pad", insn.mnemonic, insn.addr.value));
  out_.u32(static_cast<uint32_t>(*rel));
  return {};
}

Status Relocator::jump(const Insn& insn) {
  if (insn.has_bnd) out_.u8(0xf2);
  out_.u8(0xe9);  // jmp rel32
  return branch_rel32(insn);
}

Status Relocator::conditional_jump(const Insn& insn) {
  if (insn.has_bnd) out_.u8(0xf2);
  out_.u8s({0x0f, static_cast<uint8_t>(0x80 | insn.condition)});  // jcc rel32
  return branch_rel32(insn);
}

Status Relocator::loop(const Insn& insn) {
  auto original = bytes_of(insn);
  if (insn.addr32) out_.u8(0x67);
  out_.u8s({original[insn.length - 2u], 0x02});  // loop +2
  out_.u8s({0xeb, 0x05});                        // jmp +5
  out_.u8(0xe9);                                 // jmp rel32
  return branch_rel32(insn);
}

// push imm32 sign-extends; the upper half is then put right. No register or flag changes.
void Relocator::push_return_address(TargetAddr address) {
  auto low = static_cast<uint32_t>(address.value);
  auto high = static_cast<uint32_t>(address.value >> 32);
  out_.u8(0x68);  // push imm32
  out_.u32(low);
  if (high == (low >> 31 ? ~0u : 0u)) return;
  out_.u8s({0xc7, 0x44, 0x24, 0x04});  // mov dword [rsp+4], imm32
  out_.u32(high);
}

Status Relocator::call(const Insn& insn) {
  if (options_.shadow_stack) return refuse("call among the replaced bytes of a process with shadow stacks");
  push_return_address(insn.end());
  return jump(insn);
}

Status Relocator::indirect_call(const Insn& insn) {
  constexpr uint8_t kJumpNear = 4;  // FF /4, where call is FF /2
  if (options_.shadow_stack) return refuse("call among the replaced bytes of a process with shadow stacks");
  if (insn.uses_rsp) return refuse("call through rsp among the replaced bytes");
  if (insn.operand16) return refuse("branch with an operand-size prefix (call)");
  push_return_address(insn.end());
  return copy_with_modrm_reg(insn, kJumpNear);
}

Status Relocator::resolve_fixups() {
  TargetAddr start = out_.here() - out_.size();
  for (const Fixup& fixup : fixups_) {
    auto head = std::find_if(result_.heads.begin(), result_.heads.end(),
                             [&](const auto& h) { return h.first == fixup.goal; });
    if (head == result_.heads.end())
      return refuse(
          fmt::format("branch at {:#x} leads into the middle of an instruction", fixup.branch.value));
    auto rel = displacement(start + fixup.rel32_at + 4, start + head->second);
    out_.patch_u32(fixup.rel32_at, static_cast<uint32_t>(*rel));
  }
  return {};
}

Result<Relocated> Relocator::run() {
  if (window_.empty() || window_.size() > std::numeric_limits<uint8_t>::max())
    return refuse(fmt::format("window of {} bytes", window_.size()));
  for (size_t at = 0; at < window_.size();) {
    auto insn = decode(window_.subspan(at), from_ + at);
    if (!insn) return refuse(fmt::format("bytes at {:#x} are no instruction", from_.value + at));
    bool last = at + insn->length == window_.size();
    TRY_OK(check(*insn, last));
    result_.heads.emplace_back(static_cast<uint8_t>(at), static_cast<uint16_t>(out_.size()));
    TRY_OK(move(*insn));
    at += insn->length;
    result_.falls_through =
        !insn->ends_flow() && insn->flow != Flow::kCall && insn->flow != Flow::kIndirectCall;
  }
  TRY_OK(resolve_fixups());
  result_.bytes = out_.take();
  return std::move(result_);
}

}  // namespace

Result<Relocated> relocate(std::span<const uint8_t> window, TargetAddr from, TargetAddr to,
                           const RelocateOptions& options) {
  return Relocator(window, from, to, options).run();
}

}  // namespace blip::x86
