// SPDX-License-Identifier: MIT
#include "jit/ranges.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

// The order of loads is the protocol: the range, then the publication it belongs to. The hint is one load,
// because another thread may store it.
//   rcx  the control address, then the publication
//   rdx  the hint, the range's offset, its end, the room
void emit_range_check(Assembler& a, const Environment& env, uint32_t hint, uint32_t size, Mem word,
                      asmjit::Label elsewhere) {
  constexpr int32_t kHints = -int32_t{abi::kGatePageSize} + int32_t{abi::kRangeHintsOffset};
  constexpr int32_t kStart = offsetof(abi::ValidRange, start), kEnd = offsetof(abi::ValidRange, end);
  const auto published =
      static_cast<int32_t>(env.geometry.ranges_offset() + offsetof(abi::RangeControl, word));
  Mem low = word;
  low.setSize(4);
  a.mov(rcx, env.control.value);
  a.mov(rdx, qword_ptr(rcx, kHints + static_cast<int32_t>(hint % abi::kRangeHints * sizeof(uint64_t))));
  a.mov(word, rdx);
  a.shr(rdx, 32);
  a.cmp(rax, qword_ptr(rcx, rdx, 0, kStart));
  a.jb(elsewhere);
  a.mov(rdx, qword_ptr(rcx, rdx, 0, kEnd));
  a.mov(ecx, dword_ptr(rcx, published));
  a.cmp(ecx, low);
  a.jne(elsewhere);
  a.sub(rdx, rax);
  a.jb(elsewhere);
  a.cmp(rdx, size);
  a.jb(elsewhere);
}

}  // namespace blip::jit
