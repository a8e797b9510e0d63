// SPDX-License-Identifier: MIT
#include "jit/trap_pads.h"

#include <csignal>

#include "jit/emit/assembler.h"
#include "runtime/blob.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kRedZone = 128;

}  // namespace

// rdi, rsi and rdx are the handler's arguments; nothing else is.
Result<std::vector<uint8_t>> build_trap_stub(TargetAddr at, const TrapPlaces& places) {
  CodeBuffer code(at);
  auto& a = code.assembler();
  a.mov(rcx, places.table.value);
  a.jmp(places.runtime.value + runtime::kTrapOffset);
  return code.finish();
}

Result<std::vector<uint8_t>> build_sigaction_pad(TargetAddr at, TargetAddr site, const TrapPlaces& places) {
  CodeBuffer code(at);
  auto& a = code.assembler();
  asmjit::Label trap = a.newLabel();
  a.cmp(edi, SIGTRAP);  // the kernel takes an int
  a.je(trap);
  a.mov(eax, kSigactionNumber);
  a.syscall();
  a.jmp(site.value + kSigactionSiteSize);
  a.bind(trap);
  a.lea(rsp, ptr(rsp, -kRedZone));
  a.mov(rcx, places.table.value);
  a.call(places.runtime.value + runtime::kSetActionOffset);
  a.lea(rsp, ptr(rsp, kRedZone));
  a.jmp(site.value + kSigactionSiteSize);
  return code.finish();
}

}  // namespace blip::jit
