// SPDX-License-Identifier: MIT
// Reads of memory in generated code. Nothing may fault in a target: what is on the page of the stack that the
// pad itself has just written to is there; of anything else only the kernel can tell.
#include "jit/hit_code.h"
#include "jit/section.h"
#include "jit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using runtime::Fetch;
using script::Node;
using script::Op;

// The value at the address in rax.
void HitCode::read(const Node& n) {
  if (way_ == HitWay::kSection) return read_near(n, elsewhere_);
  asmjit::Label far = a_.newLabel(), done = a_.newLabel();
  const bool is_near = facts_[n.a].is_near;
  if (is_near) {
    read_near(n, far);
    a_.jmp(done);
  }
  a_.bind(far);
  a_.mov(rdx, rax);
  fetch(runtime::fetch_load(n.width));
  a_.mov(rax, rcx);
  extend(rax, rax, n.width, n.is_signed);
  a_.bind(done);
}

// Goes to `elsewhere`, with rax as it was, unless all bytes are on the page that rsp is on.
void HitCode::read_near(const Node& n, asmjit::Label elsewhere) {
  constexpr uint32_t kOffsets = abi::kPageSize - 1;
  a_.mov(qword_ptr(rsp, emission_.frame.word(depth_)), rax);  // the page is there from now on
  a_.mov(rcx, rax);
  a_.xor_(rcx, rsp);
  a_.cmp(rcx, kOffsets);
  a_.ja(elsewhere);
  if (n.width > 1) {
    a_.lea(rcx, ptr(rax, n.width - 1));
    a_.xor_(rcx, rsp);
    a_.cmp(rcx, kOffsets);
    a_.ja(elsewhere);
  }
  extend(rax, ptr(rax, 0, n.width), n.width, n.is_signed);
}

void HitCode::fetch(uint32_t what) {
  a_.mov(rcx, emission_.env.control.value);
  a_.mov(eax, what);
  a_.call(emission_.stubs.fetch.value);
  a_.test(rdx, rdx);
  a_.jz(fault_);
}

// The C string at the address in rax.
void HitCode::compare_text(const Node& n) {
  const std::string& text = code_.texts[n.value];
  const bool is_whole = n.op == Op::kTextEqual;
  a_.mov(rdx, rax);
  a_.lea(r8, ptr(texts_.add(a_, is_whole ? text + '\0' : text)));
  a_.mov(r9d, static_cast<uint32_t>(text.size() + is_whole));
  fetch(static_cast<uint32_t>(Fetch::kTextIs));
  a_.mov(rax, rcx);
}

// rcx bytes at the address in rax.
void HitCode::compare_bytes(const Node& n) {
  const std::string& text = code_.texts[n.value];
  asmjit::Label done = a_.newLabel();
  a_.mov(rdx, rax);
  a_.xor_(eax, eax);
  a_.cmp(rcx, static_cast<uint32_t>(text.size()));
  a_.jne(done);
  a_.lea(r8, ptr(texts_.add(a_, text)));
  a_.mov(r9d, static_cast<uint32_t>(text.size()));
  fetch(static_cast<uint32_t>(Fetch::kBytesAre));
  a_.mov(rax, rcx);
  a_.bind(done);
}

// In a section there is one: the gate was open. Elsewhere there may be none yet.
void HitCode::thread_pointer() {
  if (way_ == HitWay::kSection) {
    a_.mov(rax, thread_memory(0, 8));
    return;
  }
  fetch(static_cast<uint32_t>(Fetch::kThreadPointer));
  a_.mov(rax, rcx);
}

// In ns, of what the call's frame holds in units of the clock.
void HitCode::latency() {
  constexpr unsigned kRateShift = 48;
  a_.mov(rax, qword_ptr(rsi, shadow::kTime));
  if (emission_.env.latency_rate == 0) return;
  a_.mov(rcx, emission_.env.latency_rate);
  a_.mul(rcx);
  a_.shrd(rax, rdx, kRateShift);
}

}  // namespace blip::jit
