// SPDX-License-Identifier: MIT
#include "jit/frame.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr int32_t kRedZone = 128;
}

void Frame::emit_save(Assembler& a) const {
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, -kRedZone));
  if (needs_.save_rax) a.push(rax);
  if (needs_.flags_recorded) {
    a.pushfq();
  } else if (needs_.flags_live) {
    a.lahf();
    a.seto(al);
    a.push(rax);
  }
  if (needs_.save_rcx) a.push(rcx);
  if (needs_.save_rdx) a.push(rdx);
  if (needs_.save_rsi) a.push(rsi);
}

void Frame::emit_restore(Assembler& a) const {
  if (needs_.save_rsi) a.pop(rsi);
  if (needs_.save_rdx) a.pop(rdx);
  if (needs_.save_rcx) a.pop(rcx);
  if (needs_.flags_recorded && needs_.flags_live) {
    a.popfq();
  } else if (needs_.flags_recorded) {
    a.lea(rsp, ptr(rsp, 8));
  } else if (needs_.flags_live) {
    a.pop(rax);
    a.add(al, 0x7f);  // overflows exactly when al was 1: OF comes back
    a.sahf();
  }
  if (needs_.save_rax) a.pop(rax);
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, kRedZone));
}

int32_t Frame::size() const {
  return above_flags() + (needs_.save_rax ? 8 : 0) + (needs_.skip_red_zone ? kRedZone : 0);
}

int32_t Frame::slot(uint8_t reg) const {
  switch (reg) {
    case Gp::kIdAx:
      return needs_.save_rax ? above_flags() : -1;
    case Gp::kIdCx:
      return needs_.save_rcx ? rcx_slot() : -1;
    case Gp::kIdDx:
      return needs_.save_rdx ? rdx_slot() : -1;
    case Gp::kIdSi:
      return needs_.save_rsi ? 0 : -1;
    default:
      return -1;
  }
}

}  // namespace blip::jit
