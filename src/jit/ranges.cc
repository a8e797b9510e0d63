// SPDX-License-Identifier: MIT
#include "jit/ranges.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr int32_t kHints = -int32_t{abi::kGatePageSize} + int32_t{abi::kRangeHintsOffset};
}

Mem range_hint(uint32_t number) {
  return qword_ptr(rcx, kHints + static_cast<int32_t>(number % abi::kRangeHints * sizeof(uint64_t)));
}

Mem range_hint(Gp number) { return qword_ptr(rcx, number, 3, kHints); }

// The order of loads is the protocol: the range, then the publication it belongs to. The hint is one load,
// because another thread may store it.
//   rcx  the control address, then the publication
//   rdx  the hint, the range's offset, its end, the room
void emit_range_check(Assembler& a, const Environment& env, const RangeRead& read, asmjit::Label elsewhere) {
  constexpr int32_t kStart = offsetof(abi::ValidRange, start), kEnd = offsetof(abi::ValidRange, end);
  const auto published =
      static_cast<int32_t>(env.geometry.ranges_offset() + offsetof(abi::RangeControl, word));
  asmjit::Operand publication = read.kept;
  if (read.kept.isMem())
    publication.as<Mem>().setSize(4);
  else
    publication = read.kept.as<Gp>().r32();
  a.mov(rcx, env.control.value);
  a.mov(rdx, read.hint);
  a.emit(Inst::kIdMov, read.kept, rdx);
  a.shr(rdx, 32);
  a.cmp(read.address, qword_ptr(rcx, rdx, 0, kStart));
  a.jb(elsewhere);
  a.mov(rdx, qword_ptr(rcx, rdx, 0, kEnd));
  a.mov(ecx, dword_ptr(rcx, published));
  a.emit(Inst::kIdCmp, ecx, publication);
  a.jne(elsewhere);
  a.sub(rdx, read.address);
  a.jb(elsewhere);
  a.cmp(rdx, read.size);
  a.jb(elsewhere);
}

}  // namespace blip::jit
