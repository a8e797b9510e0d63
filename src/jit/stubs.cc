// SPDX-License-Identifier: MIT
#include "jit/stubs.h"

#include <algorithm>

#include "jit/emit/assembler.h"
#include "jit/emit/gate.h"
#include "jit/emit/section.h"
#include "jit/program/hit_needs.h"
#include "jit/safe_load.h"
#include "runtime/blob.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr int32_t kRingPid = offsetof(abi::RingControl, pid);
constexpr int32_t kPos = offsetof(abi::RingControl, pos);
constexpr int32_t kData = offsetof(abi::RingControl, data_addr);
constexpr int32_t kConsumed = offsetof(abi::RingControl, consumed);

// Without a backtrace a pad takes at most 512 bytes of the target's stack: the red zone, rax, flags and the eight registers
// behind them, the words of the action, a return address, and what the entry uses that it calls.
constexpr uint32_t kMostStack = 512;
constexpr uint32_t kMostFrame = 128 + 8 * 10 + 8 * (kMaxHitWords + kRangeWords) + 8;
static_assert(kMostFrame +
                  std::max({runtime::kReserveStackUse, runtime::kReserveMonotonicStackUse,
                            runtime::kFetchStackUse, runtime::kEnterStackUse,
                            runtime::kEnterMonotonicStackUse, runtime::kFindStackUse, runtime::kLeaveStackUse,
                            runtime::kMeasureStackUse, runtime::kMeasureMonotonicStackUse,
                            runtime::kFindRangeStackUse, runtime::kFindReadingStackUse}) <=
              kMostStack);

// In: eax = record size, edx = class. Out: eax = 1 try again, 0 no room (counted). Clobbers rcx, rdx, flags.
//   rsi record size, rdi class, r8 this CPU
void emit_next_subbuf(CodeBuffer& code, const ProcessEnvironment& env, const ChannelEnvironment& channel) {
  const abi::Geometry& g = channel.geometry;
  auto& a = code.assembler();
  Section section(code, env);
  asmjit::Label again = a.newLabel(), full = a.newLabel(), out = a.newLabel();
  a.push(rsi);
  a.push(rdi);
  a.push(r8);
  a.mov(esi, eax);
  a.mov(edi, edx);
  a.mov(rcx, env.control.value);
  section.begin();
  a.cmp(dword_ptr(rcx, kGate), abi::kGateOpen);
  a.jne(again);  // the pad will see it too
  a.mov(r8d, thread_memory(env.rseq->offset + kRseqCpuId, 4));
  a.cmp(r8d, g.ring_count);
  a.jae(again);
  emit_go_to_channel(a, env, channel);
  a.mov(eax, r8d);
  a.shl(eax, abi::kRingControlShift);
  a.lea(rcx, ptr(rcx, rax, 0, abi::kRingControlsOffset));
  a.mov(rdx, qword_ptr(rcx, kPos));
  a.mov(eax, edx);
  a.and_(eax, g.subbuf_size - 1);
  a.add(eax, esi);
  a.cmp(eax, g.subbuf_size);
  a.jb(again);  // another CPU by now, or someone else switched
  a.mov(rax, rdx);
  a.or_(rax, g.subbuf_size - 1);
  a.inc(rax);  // the next sub-buffer; free if next + subbuf_size - consumed <= ring_size
  a.mov(rsi, rax);
  a.sub(rsi, qword_ptr(rcx, kConsumed));
  a.cmp(rsi, static_cast<int32_t>(g.ring_size() - g.subbuf_size));
  a.jg(full);
  a.and_(edx, static_cast<uint32_t>(g.ring_size() - 1));
  a.add(rdx, qword_ptr(rcx, kData));
  a.mov(qword_ptr(rdx), abi::kPaddingClass);  // the rest of this sub-buffer is empty
  a.mov(qword_ptr(rcx, kPos), rax);           // publishes
  section.end();
  a.bind(again);
  a.mov(eax, 1);
  a.bind(out);
  section.abandon();  // also where it was left without publishing
  a.pop(r8);
  a.pop(rdi);
  a.pop(rsi);
  a.ret();

  a.bind(full);
  a.mov(rcx, channel.control.value);
  a.imul(r8d, r8d, static_cast<uint32_t>(g.counter_row_size()));
  a.lea(rcx, ptr(rcx, r8, 0, static_cast<int32_t>(g.counter_offset(abi::kDiscarded, 0, 0))));
  a.lock().inc(qword_ptr(rcx, rdi, 3));
  a.xor_(eax, eax);
  a.jmp(out);

  section.abort_here();
  a.jmp(again);
  section.emit_descriptor();
}

// In: edx = class. Out and clobbers as next_subbuf. While the ring's pid is 0 any process that comes writes a
// record of its own: whoever is restarted or killed between the stores leaves nothing wrong behind.
//   rsi this process, rdi class
void emit_name_process(CodeBuffer& code, const ProcessEnvironment& env, const ChannelEnvironment& channel,
                       TargetAddr next_subbuf) {
  const abi::Geometry& g = channel.geometry;
  auto& a = code.assembler();
  Section section(code, env);
  asmjit::Label again = a.newLabel(), no_room = a.newLabel();
  a.push(rsi);
  a.push(rdi);
  a.mov(edi, edx);
  a.mov(rcx, env.control.value);
  section.begin();
  a.cmp(dword_ptr(rcx, kGate), abi::kGateOpen);
  a.jne(again);  // the pad will see it too
  a.mov(eax, thread_memory(env.rseq->offset + kRseqCpuId, 4));
  a.cmp(eax, g.ring_count);
  a.jae(again);
  a.mov(esi, dword_ptr(rcx, kPid));
  emit_go_to_channel(a, env, channel);
  a.shl(eax, abi::kRingControlShift);
  a.lea(rcx, ptr(rcx, rax, 0, abi::kRingControlsOffset));
  a.mov(eax, dword_ptr(rcx, kPos));
  a.and_(eax, g.subbuf_size - 1);
  a.cmp(eax, g.subbuf_size - uint32_t{sizeof(abi::ProcessRecord)});
  a.jae(no_room);
  a.rdtsc();
  a.shl(rdx, 32 + abi::kClassBits);
  a.shl(rax, abi::kClassBits);
  a.lea(rax, ptr(rax, rdx, 0, abi::kProcessClass));
  a.mov(edx, dword_ptr(rcx, kPos));
  a.and_(edx, static_cast<uint32_t>(g.ring_size() - 1));
  a.add(rdx, qword_ptr(rcx, kData));
  a.mov(qword_ptr(rdx), rax);
  a.mov(qword_ptr(rdx, offsetof(abi::ProcessRecord, pid)), rsi);
  a.mov(dword_ptr(rcx, kRingPid), 0);
  a.add(qword_ptr(rcx, kPos), uint32_t{sizeof(abi::ProcessRecord)});  // publishes
  a.mov(dword_ptr(rcx, kRingPid), esi);
  section.end();
  a.bind(again);
  a.mov(eax, 1);
  section.abandon();
  a.pop(rdi);
  a.pop(rsi);
  a.ret();

  a.bind(no_room);
  a.mov(edx, edi);
  a.mov(eax, uint32_t{sizeof(abi::ProcessRecord)});
  a.pop(rdi);
  a.pop(rsi);
  a.jmp(next_subbuf.value);

  section.abort_here();
  a.jmp(again);
  section.emit_descriptor();
}

// Calls an entry of the blob that reads CLOCK_MONOTONIC.
TargetAddr emit_with_clock(CodeBuffer& code, const MonotonicClock& clock, TargetAddr entry) {
  auto& a = code.assembler();
  a.align(asmjit::AlignMode::kCode, 32);
  const TargetAddr stub = code.here();
  a.push(r8);
  a.mov(r8, clock.clock_gettime.value);
  a.call(entry.value);
  a.pop(r8);
  a.ret();
  return stub;
}

ChannelStubs emit_channel(CodeBuffer& code, const ProcessEnvironment& env,
                          const ChannelEnvironment& channel) {
  ChannelStubs stubs;
  if (!env.rseq || channel.geometry.ring_size() == 0) return stubs;
  code.assembler().align(asmjit::AlignMode::kCode, 32);
  stubs.next_subbuf = code.here();
  emit_next_subbuf(code, env, channel);
  if (!env.follow_fork) return stubs;
  code.assembler().align(asmjit::AlignMode::kCode, 32);
  stubs.name_process = code.here();
  emit_name_process(code, env, channel, stubs.next_subbuf);
  return stubs;
}

}  // namespace

Result<AreaPrologue> build_area_prologue(TargetAddr at, const Environment& environment) {
  const ProcessEnvironment& env = environment.process;
  CodeBuffer code(at);
  auto& a = code.assembler();
  AreaPrologue prologue;
  prologue.stubs.reserve = at + runtime::kReserveOffset;
  const auto blob = runtime::runtime_blob();
  a.embed(blob.data(), blob.size());
  prologue.stubs.enter = at + runtime::kEnterOffset;
  prologue.stubs.find = at + runtime::kFindOffset;
  prologue.stubs.leave = at + runtime::kLeaveOffset;
  prologue.stubs.measure = at + runtime::kMeasureOffset;
  prologue.stubs.tell_libraries = at + runtime::kTellLibrariesOffset;
  prologue.stubs.fetch = at + runtime::kFetchOffset;
  prologue.stubs.backtrace = at + runtime::kBacktraceOffset;
  prologue.stubs.collect = at + runtime::kCollectOffset;
  prologue.stubs.find_range = at + runtime::kFindRangeOffset;
  prologue.stubs.find_reading = at + runtime::kFindReadingOffset;
  if (env.monotonic) {
    a.align(asmjit::AlignMode::kCode, 32);
    prologue.stubs.reserve = code.here();
    a.mov(rdx, env.monotonic->clock_gettime.value);
    a.jmp((at + runtime::kReserveMonotonicOffset).value);
    prologue.stubs.enter = emit_with_clock(code, *env.monotonic, at + runtime::kEnterMonotonicOffset);
    prologue.stubs.measure = emit_with_clock(code, *env.monotonic, at + runtime::kMeasureMonotonicOffset);
  }
  for (const ChannelEnvironment& channel : environment.channels)
    prologue.stubs.channels.push_back(emit_channel(code, env, channel));
  if (has_safe_load(env)) {
    a.align(asmjit::AlignMode::kCode, 32);
    prologue.stubs.safe_load = code.here();
    emit_safe_load(code, env, prologue.stubs);
  }
  TRY(prologue.code, code.finish());
  return prologue;
}

}  // namespace blip::jit
