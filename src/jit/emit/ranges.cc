// SPDX-License-Identifier: MIT
#include "jit/emit/ranges.h"

#include "jit/emit/gate.h"
#include "jit/emit/section.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {
constexpr int32_t kHints = -int32_t{abi::kGatePageSize} + int32_t{abi::kRangeHintsOffset};

int32_t control_offset(const ProcessEnvironment& env, uint64_t member) {
  return static_cast<int32_t>(env.geometry.ranges_offset() + member);
}

// In a register: its own, or `scratch`.
Gp reading_address(Assembler& a, const asmjit::Operand& reading, Gp scratch) {
  if (!reading.isMem()) return reading.as<Gp>();
  a.mov(scratch, reading.as<Mem>());
  return scratch;
}
}  // namespace

Mem range_hint(uint32_t number) {
  return qword_ptr(rcx, kHints + static_cast<int32_t>(number % abi::kRangeHints * sizeof(uint64_t)));
}

Mem range_hint(Gp number) { return qword_ptr(rcx, number, 3, kHints); }

void emit_find_reading(Assembler& a, const ProcessEnvironment& env, asmjit::Label unknown) {
  static_assert((abi::kMaxReaders & (abi::kMaxReaders - 1)) == 0);
  a.mov(rdx, thread_memory(0, 8));
  a.add(rdx, env.rseq->offset + kRseqCs);
  a.imul(rax, rdx, abi::kReaderFactor);
  a.shr(rax, 32);
  a.and_(eax, abi::kMaxReaders - 1);
  a.cmp(qword_ptr(rcx, rax, 3, control_offset(env, offsetof(abi::RangeControl, readers))), rdx);
  a.jne(unknown);
  a.shl(eax, abi::kReadingShift);
  a.lea(rax, ptr(rcx, rax, 0, control_offset(env, offsetof(abi::RangeControl, readings))));
}

void emit_ask_for_reading(Assembler& a, const ProcessEnvironment& env, TargetAddr find_reading) {
  a.call(find_reading.value);
  a.mov(rax, rdx);
  a.mov(rcx, env.control.value);
  a.test(rax, rax);
}

void emit_begin_reading(Assembler& a, const ProcessEnvironment& env, const asmjit::Operand& reading,
                        asmjit::Label elsewhere) {
  a.cmp(dword_ptr(rcx, kOwnRanges), 1);
  a.jne(elsewhere);
  constexpr uint32_t kMostCpus = 8192;
  const uint32_t cpus = env.geometry.ring_count != 0 ? env.geometry.ring_count : kMostCpus;
  a.cmp(thread_memory(env.rseq->offset + kRseqCpuId, 4), cpus);
  a.jae(elsewhere);
  a.inc(qword_ptr(reading_address(a, reading, rax), offsetof(abi::Reading, sections)));
}

// A pad announces what it reads before it knows that it is there; whoever takes memory away cuts first and
// looks then. The order of loads is the protocol: the range, then the publication it belongs to. The hint is
// one load, because another thread may store it.
//   rcx  the control address, then the publication
//   rdx  the hint, the range's offset, its end, the room
void emit_range_check(Assembler& a, const ProcessEnvironment& env, const RangeRead& read,
                      asmjit::Label elsewhere) {
  static_assert(abi::kMaxRecordSize <= abi::kMaxReadingSize);
  constexpr int32_t kStart = offsetof(abi::ValidRange, start), kEnd = offsetof(abi::ValidRange, end);
  const int32_t published = control_offset(env, offsetof(abi::RangeControl, word));
  asmjit::Operand publication = read.kept;
  if (read.kept.isMem())
    publication.as<Mem>().setSize(4);
  else
    publication = read.kept.as<Gp>().r32();
  const Gp reading = reading_address(a, read.reading, rdx);
  a.mov(qword_ptr(reading, offsetof(abi::Reading, address)), read.address);
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
