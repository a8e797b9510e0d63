// SPDX-License-Identifier: MIT
#include "jit/unmap_pad.h"

#include <algorithm>
#include <iterator>

#include "jit/emit/assembler.h"
#include "jit/emit/gate.h"
#include "jit/stubs.h"
#include "ring/doomed.h"
#include "runtime/blob.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kRedZone = 128;

void emit_call(Assembler& a, uint32_t number) {
  if (number != kAnyNumber) a.mov(eax, number);
  a.syscall();
}

}  // namespace

bool may_unmap(uint32_t number) {
  return number == kAnyNumber ||
         std::find(std::begin(ring::kDooming), std::end(ring::kDooming), number) != std::end(ring::kDooming);
}

// Code behind an announced call must not touch the stack, which may be gone.
Result<std::vector<uint8_t>> build_unmap_pad(TargetAddr at, TargetAddr site, uint32_t number,
                                             TargetAddr runtime, const ProcessEnvironment& env) {
  CodeBuffer code(at);
  auto& a = code.assembler();
  asmjit::Label plain = a.newLabel(), done = a.newLabel();
  if (number == kAnyNumber) a.mov(r9, qword_ptr(rsp, 8));
  a.lea(rsp, ptr(rsp, -kRedZone));
  if (number == kAnyNumber)
    a.push(rax);
  else
    a.mov(eax, number);
  a.mov(rcx, env.control.value);
  a.call((runtime + runtime::kBeginCallOffset).value);
  a.test(eax, eax);
  if (number == kAnyNumber) a.pop(rax);
  a.lea(rsp, ptr(rsp, kRedZone));
  a.jz(plain);
  emit_call(a, number);
  a.mov(rcx, env.control.value);
  a.cmp(dword_ptr(rcx, kOwnRanges), 1);
  a.jne(done);  // the child of a handler that came in between: what is counted is the parent's
  a.lock().dec(qword_ptr(
      rcx, static_cast<int32_t>(env.geometry.ranges_offset() + offsetof(abi::RangeControl, pending))));
  a.bind(done);
  a.jmp(site.value + kSyscallSiteSize);
  a.bind(plain);
  emit_call(a, number);
  a.jmp(site.value + kSyscallSiteSize);
  return code.finish();
}

}  // namespace blip::jit
