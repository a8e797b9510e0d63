// SPDX-License-Identifier: MIT
#include "jit/frame.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr int32_t kRedZone = 128;
}

void Frame::emit_save(Assembler& a) const {
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, -kRedZone));
  a.push(rax);
  if (needs_.flags_recorded) {
    a.pushfq();
  } else if (needs_.flags_live) {
    a.lahf();
    a.seto(al);
    a.push(rax);
  }
  a.push(rcx);
  if (needs_.save_rdx) a.push(rdx);
}

void Frame::emit_restore(Assembler& a) const {
  if (needs_.save_rdx) a.pop(rdx);
  a.pop(rcx);
  if (needs_.flags_recorded) {
    a.popfq();
  } else if (needs_.flags_live) {
    a.pop(rax);
    a.add(al, 0x7f);  // overflows exactly when al was 1: OF comes back
    a.sahf();
  }
  a.pop(rax);
  if (needs_.skip_red_zone) a.lea(rsp, ptr(rsp, kRedZone));
}

int32_t Frame::size() const {
  return 16 + (needs_.save_rdx ? 8 : 0) + (has_flags() ? 8 : 0) + (needs_.skip_red_zone ? kRedZone : 0);
}

int32_t Frame::slot(uint8_t reg) const {
  switch (reg) {
    case Gp::kIdAx:
      return rcx_slot() + 8 + (has_flags() ? 8 : 0);
    case Gp::kIdCx:
      return rcx_slot();
    case Gp::kIdDx:
      return needs_.save_rdx ? 0 : -1;
    default:
      return -1;
  }
}

}  // namespace blip::jit
