// SPDX-License-Identifier: MIT
#include "x86/relocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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
//   call disp(rsp)             push original return address; jmp disp+8(rsp)
//
// All forms have a fixed size, so one pass lays them out; branches to instructions of the window itself are
// filled in at the end, when their heads have a place.

namespace blip::x86 {
namespace {

// The copy of one instruction.
class Copier {
 public:
  Copier(std::span<const uint8_t> original, AddrRange interior, TargetAddr to, const RelocateOptions& options)
      : original_(original), interior_(interior), options_(options), out_(to) {}

  Status move(const Insn& insn);
  std::vector<uint8_t> take() { return out_.take(); }
  // The target of a rel32 that must lead to another instruction of the window.
  std::optional<TargetAddr> inner_branch() const { return inner_branch_; }

 private:
  Status copy(const Insn& insn);
  Status move_lea(const Insn& insn);
  Status fix_displacement(const Insn& insn, size_t start);
  Status jump(const Insn& insn);
  Status conditional_jump(const Insn& insn);
  Status loop(const Insn& insn);
  Status call(const Insn& insn);
  Status indirect_call(const Insn& insn);
  Status branch_rel32(const Insn& insn);
  void push_return_address(TargetAddr address);

  std::span<const uint8_t> original_;
  AddrRange interior_;  // of the window: where a branch needs another head
  RelocateOptions options_;
  CodeWriter out_;
  std::optional<TargetAddr> inner_branch_;
};

Error refuse(std::string reason) { return Error(ErrorKind::kUnsupported, std::move(reason)); }

Error refuse_far(const Insn& insn) {
  return refuse(
      fmt::format("{} at {:#x} refers to memory out of reach of the pad", insn.mnemonic, insn.addr.value));
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

Status check(const Insn& insn, bool first, bool last) {
  if (auto why = immovable(insn)) return refuse(fmt::format("{} ({})", *why, insn.mnemonic));
  if (insn.is_endbr64 && !first) return refuse("target of indirect jumps among the replaced bytes");
  if (auto why = must_be_last(insn); why && !last) return refuse(*why);
  return {};
}

constexpr char kCallThroughRsp[] = "call through rsp among the replaced bytes";

// The bytes of a call through disp(rsp), made to address `more` bytes farther. Below rsp the return address,
// which is pushed first, would lie in the way.
Status add_to_displacement(std::vector<uint8_t>& bytes, size_t modrm_at, int32_t more) {
  const uint8_t mod = bytes[modrm_at] >> 6;
  const size_t disp_at = modrm_at + 2;
  int64_t disp = 0;
  if (mod == 1) disp = static_cast<int8_t>(bytes[disp_at]);  // NOLINT(bugprone-signed-char-misuse): a sign
  if (mod == 2) {
    int32_t disp32;
    std::memcpy(&disp32, &bytes[disp_at], sizeof disp32);
    disp = disp32;
  }
  disp += more;
  if (disp < more || disp != static_cast<int32_t>(disp)) return refuse(kCallThroughRsp);
  bytes.resize(disp_at);  // a call has no immediate behind
  const bool is_short = disp == static_cast<int8_t>(disp);
  bytes[modrm_at] = static_cast<uint8_t>((bytes[modrm_at] & 0x3f) | (is_short ? 0x40 : 0x80));
  for (int i = 0; i < (is_short ? 1 : 4); ++i) bytes.push_back(static_cast<uint8_t>(disp >> (8 * i)));
  return {};
}

Status Copier::move(const Insn& insn) {
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

Status Copier::copy(const Insn& insn) {
  if (insn.rip_relative && insn.lea_width && !displacement(out_.here() + insn.length, insn.rip_target))
    return move_lea(insn);
  out_.u8s(original_);
  return fix_displacement(insn, 0);
}

// For the instruction that was copied to `start` of the output, which ends here.
Status Copier::fix_displacement(const Insn& insn, size_t start) {
  if (!insn.rip_relative) return {};
  auto disp = displacement(out_.here(), insn.rip_target);
  if (!disp) return refuse_far(insn);
  out_.patch_u32(start + insn.disp_offset, static_cast<uint32_t>(*disp));
  return {};
}

Status Copier::move_lea(const Insn& insn) {
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
Status Copier::branch_rel32(const Insn& insn) {
  TargetAddr goal = *insn.target;
  if (interior_.contains(goal)) {
    inner_branch_ = out_.here();
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

Status Copier::jump(const Insn& insn) {
  if (insn.has_bnd) out_.u8(0xf2);
  out_.u8(0xe9);  // jmp rel32
  return branch_rel32(insn);
}

Status Copier::conditional_jump(const Insn& insn) {
  if (insn.has_bnd) out_.u8(0xf2);
  out_.u8s({0x0f, static_cast<uint8_t>(0x80 | insn.condition)});  // jcc rel32
  return branch_rel32(insn);
}

Status Copier::loop(const Insn& insn) {
  if (insn.addr32) out_.u8(0x67);
  out_.u8s({original_[insn.length - 2u], 0x02});  // loop +2
  out_.u8s({0xeb, 0x05});                         // jmp +5
  out_.u8(0xe9);                                  // jmp rel32
  return branch_rel32(insn);
}

// push imm32 sign-extends; the upper half is then put right. No register or flag changes.
void Copier::push_return_address(TargetAddr address) {
  auto low = static_cast<uint32_t>(address.value);
  auto high = static_cast<uint32_t>(address.value >> 32);
  out_.u8(0x68);  // push imm32
  out_.u32(low);
  if (high == (low >> 31 ? ~0u : 0u)) return;
  out_.u8s({0xc7, 0x44, 0x24, 0x04});  // mov dword [rsp+4], imm32
  out_.u32(high);
}

Status Copier::call(const Insn& insn) {
  if (options_.shadow_stack) return refuse("call among the replaced bytes of a process with shadow stacks");
  push_return_address(insn.end());
  return jump(insn);
}

Status Copier::indirect_call(const Insn& insn) {
  constexpr int32_t kWordSize = 8;
  constexpr uint8_t kJumpNear = 4 << 3;  // FF /4, where call is FF /2
  if (options_.shadow_stack) return refuse("call among the replaced bytes of a process with shadow stacks");
  if (insn.operand16) return refuse("branch with an operand-size prefix (call)");
  const bool is_register = original_[insn.modrm_offset] >> 6 == 3;
  if (insn.uses_rsp && (is_register || insn.addr32)) return refuse(kCallThroughRsp);
  push_return_address(insn.end());
  size_t start = out_.size();
  std::vector<uint8_t> jump(original_.begin(), original_.end());
  uint8_t& modrm = jump[insn.modrm_offset];
  modrm = static_cast<uint8_t>((modrm & 0xc7) | kJumpNear);
  if (insn.uses_rsp) TRY_OK(add_to_displacement(jump, insn.modrm_offset, kWordSize));
  out_.u8s(std::span<const uint8_t>(jump));
  return fix_displacement(insn, start);
}

}  // namespace

std::optional<std::string> immovable(const Insn& insn) {
  if (insn.is_privileged) return "privileged instruction";
  if (insn.flow == Flow::kTrap) return "trap instruction";
  if (insn.flow == Flow::kOther) return "control transfer of a rare kind";
  if (insn.flow != Flow::kNext && insn.operand16 && insn.target) return "branch with an operand-size prefix";
  if (insn.rip_relative && insn.addr32) return "operand relative to eip";
  return std::nullopt;
}

Relocator::Relocator(std::span<const uint8_t> window, TargetAddr from, const RelocateOptions& options)
    : window_(window), from_(from), options_(options) {}

Result<std::vector<uint8_t>> Relocator::next(TargetAddr to, TargetAddr head) {
  if (window_.empty() || window_.size() > std::numeric_limits<uint8_t>::max())
    return refuse(fmt::format("window of {} bytes", window_.size()));
  const auto insn = decode(window_.subspan(at_), from_ + at_);
  if (!insn) return refuse(fmt::format("bytes at {:#x} are no instruction", from_.value + at_));
  TRY_OK(check(*insn, at_ == 0, at_ + insn->length == window_.size()));
  Copier copier(window_.subspan(at_, insn->length), {from_ + 1, from_ + window_.size()}, to, options_);
  TRY_OK(copier.move(*insn));
  if (auto rel32_at = copier.inner_branch())
    inner_branches_.push_back({*rel32_at, static_cast<uint8_t>(*insn->target - from_), insn->addr});
  heads_.emplace_back(offset(), head);
  at_ += insn->length;
  falls_through_ = !insn->ends_flow() && insn->flow != Flow::kCall && insn->flow != Flow::kIndirectCall;
  return copier.take();
}

Result<std::vector<Relocator::Fixup>> Relocator::fixups() const {
  std::vector<Fixup> fixups;
  for (const InnerBranch& branch : inner_branches_) {
    auto head =
        std::find_if(heads_.begin(), heads_.end(), [&](const auto& h) { return h.first == branch.goal; });
    if (head == heads_.end())
      return refuse(
          fmt::format("branch at {:#x} leads into the middle of an instruction", branch.branch.value));
    fixups.push_back({branch.rel32_at, *displacement(branch.rel32_at + 4, head->second)});
  }
  return fixups;
}

Result<Relocated> relocate(std::span<const uint8_t> window, TargetAddr from, TargetAddr to,
                           const RelocateOptions& options) {
  Relocator relocator(window, from, options);
  Relocated result;
  CodeWriter out(to);
  do {
    result.heads.emplace_back(relocator.offset(), static_cast<uint16_t>(out.size()));
    TRY(const std::vector<uint8_t> copy, relocator.next(out.here(), out.here()));
    out.u8s(std::span<const uint8_t>(copy));
  } while (!relocator.done());
  TRY(const std::vector<Relocator::Fixup> fixups, relocator.fixups());
  for (const Relocator::Fixup& f : fixups) out.patch_u32(f.at - to, static_cast<uint32_t>(f.rel32));
  result.falls_through = relocator.falls_through();
  result.bytes = out.take();
  return result;
}

}  // namespace blip::x86
