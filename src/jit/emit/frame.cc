// SPDX-License-Identifier: MIT
#include "jit/emit/frame.h"

#include <bit>

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kRedZone = 128;

// Pushed in this order behind rax and the flags.
constexpr uint8_t kBehindFlags[] = {Gp::kIdCx, Gp::kIdDx, Gp::kIdSi,  Gp::kIdDi,
                                    Gp::kIdR8, Gp::kIdR9, Gp::kIdR10, Gp::kIdR11};

}  // namespace

void Frame::emit_save(Assembler& a) const {
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, -kRedZone));
  if (saves(Gp::kIdAx)) a.push(rax);
  if (needs_.flags_recorded) {
    a.pushfq();
  } else if (needs_.flags_live) {
    a.lahf();
    a.seto(al);
    a.push(rax);
  }
  for (uint8_t reg : kBehindFlags)
    if (saves(reg)) a.push(gpq(reg));
  if (above_words() != 0) a.lea(rsp, ptr(rsp, -above_words()));
}

void Frame::emit_restore(Assembler& a) const {
  if (above_words() != 0) a.lea(rsp, ptr(rsp, above_words()));
  for (size_t i = std::size(kBehindFlags); i-- > 0;)
    if (saves(kBehindFlags[i])) a.pop(gpq(kBehindFlags[i]));
  if (needs_.flags_recorded && needs_.flags_live) {
    a.popfq();
  } else if (needs_.flags_recorded) {
    a.lea(rsp, ptr(rsp, 8));
  } else if (needs_.flags_live) {
    a.pop(rax);
    a.add(al, 0x7f);  // overflows exactly when al was 1: OF comes back
    a.sahf();
  }
  if (saves(Gp::kIdAx)) a.pop(rax);
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, kRedZone));
}

int32_t Frame::saved_behind_flags() const {
  return std::popcount(static_cast<uint16_t>(needs_.save & ~reg_bit(Gp::kIdAx)));
}

int32_t Frame::size() const {
  return flags_slot() + (has_flags() ? 8 : 0) + (saves(Gp::kIdAx) ? 8 : 0) +
         (needs_.skip_red_zone ? kRedZone : 0);
}

int32_t Frame::slot(uint8_t reg) const {
  if (!saves(reg)) return -1;
  if (reg == Gp::kIdAx) return flags_slot() + (has_flags() ? 8 : 0);
  int32_t above = flags_slot();
  for (uint8_t saved : kBehindFlags) {
    if (saves(saved)) above -= 8;
    if (saved == reg) break;
  }
  return above;
}

}  // namespace blip::jit
