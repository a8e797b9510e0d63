// SPDX-License-Identifier: MIT
#include "unwind/rules.h"

#include <cstdint>
#include <limits>

#include "unwind/expression.h"

namespace blip::unwind {

namespace {

using abi::UnwindRule;
using elf::SavedRegister;

constexpr int64_t kReturnAddress = -8;  // from the CFA, wherever a call was made
constexpr UnwindRule kNotSupported = {.base = UnwindRule::kUnsupported};
// Offsets of what the kernel saved, from rsp after the handler's return: uc_mcontext.gregs of struct
// ucontext.
constexpr int32_t kSavedRbp = 120, kSavedRsp = 160;
constexpr int16_t kSavedRip = 168;

template <typename T>
bool put(T& field, int64_t value) {
  field = static_cast<T>(value);
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

bool set_base(UnwindRule& rule, uint64_t dwarf_register, int64_t offset) {
  if (dwarf_register != elf::kDwarfRsp && dwarf_register != elf::kDwarfRbp) return false;
  rule.base = dwarf_register == elf::kDwarfRsp ? UnwindRule::kRsp : UnwindRule::kRbp;
  return put(rule.cfa_offset, offset);
}

bool set_cfa(UnwindRule& rule, const elf::CfaDefinition& cfa) {
  if (cfa.expression.empty()) return set_base(rule, cfa.dwarf_register, cfa.offset);
  if (const auto plt = as_plt(cfa.expression)) {
    rule.base = UnwindRule::kPlt;
    return put(rule.cfa_offset, plt->offset) && put(rule.cfa_add, plt->pushed_from);
  }
  const auto place = as_place(cfa.expression);
  if (!place || !set_base(rule, place->dwarf_register, place->offset)) return false;
  if (place->deref) rule.flags |= UnwindRule::kDeref;
  return put(rule.cfa_add, place->add);
}

// A rbp that is lost matters only to callers that find their frame by it.
void set_rbp(UnwindRule& rule, const SavedRegister& rbp) {
  rule.rbp = UnwindRule::kLost;
  if (rbp.where == SavedRegister::Where::kSame) rule.rbp = UnwindRule::kInRegister;
  if (rbp.where == SavedRegister::Where::kAtCfa && put(rule.rbp_offset, rbp.offset))
    rule.rbp = UnwindRule::kAtCfa;
  if (rbp.where == SavedRegister::Where::kAt) {
    const auto place = as_place(rbp.expression);
    if (!place || place->deref || !put(rule.rbp_offset, place->offset)) return;
    if (place->dwarf_register == elf::kDwarfRbp) rule.rbp = UnwindRule::kAtRbp;
    if (place->dwarf_register == elf::kDwarfRsp) rule.rbp = UnwindRule::kAtRsp;
  }
  if (rule.rbp == UnwindRule::kLost) rule.rbp_offset = 0;
}

bool set_rip(UnwindRule& rule, const SavedRegister& rip, bool is_signal_frame) {
  if (!is_signal_frame) return rip.where == SavedRegister::Where::kAtCfa && rip.offset == kReturnAddress;
  rule.flags |= UnwindRule::kSignal;
  if (rip.where != SavedRegister::Where::kAt) return false;
  const auto place = as_place(rip.expression);
  return place && !place->deref && place->dwarf_register == elf::kDwarfRsp &&
         put(rule.rip_offset, place->offset);
}

}  // namespace

UnwindRule rule_of(const elf::CallFrameRow& row, bool is_signal_frame) {
  if (row.rip.where == SavedRegister::Where::kUndefined) return {.base = UnwindRule::kOutermost};
  UnwindRule rule{};
  if (!set_cfa(rule, row.cfa) || !set_rip(rule, row.rip, is_signal_frame)) return kNotSupported;
  set_rbp(rule, row.rbp);
  return rule;
}

UnwindRule signal_rule() {
  return {.cfa_offset = kSavedRsp,
          .rbp_offset = kSavedRbp,
          .rip_offset = kSavedRip,
          .base = UnwindRule::kRsp,
          .rbp = UnwindRule::kAtRsp,
          .flags = UnwindRule::kDeref | UnwindRule::kSignal};
}

UnwindRule frame_pointer_rule() {
  return {.cfa_offset = 16, .rbp_offset = -16, .base = UnwindRule::kRbp, .rbp = UnwindRule::kAtCfa};
}

}  // namespace blip::unwind
