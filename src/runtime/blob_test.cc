// SPDX-License-Identifier: MIT
// The blob as a pad uses it: copied to executable memory, called with nothing but eax and rcx.
#include "runtime/blob.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "ring/counters.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"

namespace blip::runtime {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 2,
                                     .class_count = 3,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 4};
constexpr uint32_t kSizes[] = {0, 16, 24};

// Registers around a call of the blob; rsp is checked by coming back at all.
enum Reg {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRegCount
};

struct Frame {
  uint64_t regs[kRegCount];
  uint64_t code;
};

extern "C" void blip_test_call_with_registers(Frame* frame);

asm(R"(
    .intel_syntax noprefix
    .text
    .globl blip_test_call_with_registers
blip_test_call_with_registers:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    push rdi
    mov rax, [rdi]
    mov rcx, [rdi+8]
    mov rdx, [rdi+16]
    mov rbx, [rdi+24]
    mov rbp, [rdi+32]
    mov rsi, [rdi+40]
    mov r8,  [rdi+56]
    mov r9,  [rdi+64]
    mov r10, [rdi+72]
    mov r11, [rdi+80]
    mov r12, [rdi+88]
    mov r13, [rdi+96]
    mov r14, [rdi+104]
    mov r15, [rdi+112]
    push [rdi+120]
    mov rdi, [rdi+48]
    call [rsp]
    lea rsp, [rsp+8]
    xchg rdi, [rsp]
    mov [rdi], rax
    mov [rdi+8], rcx
    mov [rdi+16], rdx
    mov [rdi+24], rbx
    mov [rdi+32], rbp
    mov [rdi+40], rsi
    mov [rdi+56], r8
    mov [rdi+64], r9
    mov [rdi+72], r10
    mov [rdi+80], r11
    mov [rdi+88], r12
    mov [rdi+96], r13
    mov [rdi+104], r14
    mov [rdi+112], r15
    pop rax
    mov [rdi+48], rax
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
    .att_syntax
)");

class Blob : public testing::Test {
 protected:
  Blob() : region_(kGeometry) {
    const auto bytes = runtime_blob();
    auto mapping = Mapping::create(bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapping.has_value());
    code_ = *std::move(mapping);
    std::memcpy(code_.data(), bytes.data(), bytes.size());
    CHECK(::mprotect(code_.data(), code_.size(), PROT_READ | PROT_EXEC) == 0);
  }

  Frame call(uint16_t class_id, uint32_t entry = kReserveOffset, uint64_t clock_addr = 0) {
    Frame frame{};
    for (int i = 0; i < kRegCount; ++i) frame.regs[i] = 0x1111111111111111u * static_cast<unsigned>(i + 1);
    frame.regs[kRax] = class_id;
    frame.regs[kRcx] = reinterpret_cast<uint64_t>(region_.region());
    if (entry == kReserveMonotonicOffset) frame.regs[kRdx] = clock_addr;
    frame.code = reinterpret_cast<uint64_t>(code_.data()) + entry;
    blip_test_call_with_registers(&frame);
    return frame;
  }

  static void commit(const Frame& frame, uint64_t field) {
    auto* record = reinterpret_cast<uint64_t*>(frame.regs[kRdx]);
    record[1] = field;
    record[-1] += 1;
  }

  ring::TestRegion region_;
  Mapping code_;
};

TEST_F(Blob, is_small) {
  EXPECT_GT(runtime_blob().size(), 64u);
  EXPECT_LT(runtime_blob().size(), 4096u);
}

TEST_F(Blob, a_reserved_record_is_found_by_the_reader) {
  const Frame frame = call(1);
  ASSERT_NE(frame.regs[kRdx], 0u);
  EXPECT_EQ(frame.regs[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  EXPECT_LT(frame.regs[kRcx] & 0xffffffff, 4096u);
  commit(frame, 42);
  ring::SharedRingReader reader(kGeometry, region_.region(), kSizes);
  ring::Collector collected;
  EXPECT_EQ(reader.drain(collected).records, 1u);
  EXPECT_EQ(collected.events[0].words[1], 42u);
}

TEST_F(Blob, keeps_every_register_but_the_three_it_may_change) {
  for (int i = 0; i < 6; ++i) {  // the last two find the ring full
    const Frame frame = call(1);
    for (int reg = kRbx; reg < kRegCount; ++reg)
      EXPECT_EQ(frame.regs[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
  }
}

TEST_F(Blob, a_full_ring_counts_as_discarded) {
  for (int i = 0; i < 4; ++i) commit(call(1), 0);
  EXPECT_EQ(call(2).regs[kRdx], 0u);
  EXPECT_EQ(ring::CounterReader(kGeometry, region_.region()).read(abi::kDiscarded, kGeometry.ring_count, 2),
            1u);
}

TEST_F(Blob, a_closed_gate_counts_as_skipped) {
  region_.gate()->gate = abi::kGateClosed;
  EXPECT_EQ(call(2).regs[kRdx], 0u);
  EXPECT_EQ(ring::CounterReader(kGeometry, region_.region()).read(abi::kSkipped, kGeometry.ring_count, 2),
            1u);
}

uint64_t monotonic_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int fake_clock(int, timespec* now) {
  *now = {12345, 678};
  return 0;
}

TEST_F(Blob, stamps_with_the_monotonic_clock_by_a_system_call) {
  const uint64_t before = monotonic_ns();
  const Frame frame = call(1, kReserveMonotonicOffset);
  const uint64_t after = monotonic_ns();
  const uint64_t time = abi::header_time(*reinterpret_cast<uint64_t*>(frame.regs[kRdx]));
  EXPECT_GE(time, before & abi::kTimeMask);
  EXPECT_LE(time, after & abi::kTimeMask);
  EXPECT_EQ(frame.regs[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  EXPECT_LT(frame.regs[kRcx] & 0xffffffff, 4096u);
  for (int reg = kRbx; reg < kRegCount; ++reg)
    EXPECT_EQ(frame.regs[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
}

TEST_F(Blob, stamps_with_the_clock_it_is_given) {
  const Frame frame = call(1, kReserveMonotonicOffset, reinterpret_cast<uint64_t>(&fake_clock));
  EXPECT_EQ(abi::header_time(*reinterpret_cast<uint64_t*>(frame.regs[kRdx])), 12'345'000'000'678u);
  for (int reg = kRbx; reg < kRegCount; ++reg)
    EXPECT_EQ(frame.regs[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
}

TEST_F(Blob, says_the_cpu_it_runs_on_with_either_clock) {
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const Frame tsc = call(1);
    EXPECT_EQ(tsc.regs[kRcx] & 0xffffffff, cpu);
    commit(tsc, 0);
    const Frame monotonic = call(1, kReserveMonotonicOffset);
    EXPECT_EQ(monotonic.regs[kRcx] & 0xffffffff, cpu);
    commit(monotonic, 0);
    break;  // the ring is full after two CPUs, and one is enough
  }
  ::sched_setaffinity(0, sizeof all, &all);
}

TEST_F(Blob, takes_the_tid_from_the_thread_only_while_the_gate_is_plainly_open) {
  static thread_local int32_t fake_tid;
  fake_tid = 1234567;
  int64_t offset;
  asm("mov %%fs:0, %0" : "=r"(offset));
  region_.gate()->tid_offset = static_cast<int32_t>(reinterpret_cast<int64_t>(&fake_tid) - offset);
  EXPECT_EQ(call(1).regs[kRcx] >> 32, 1234567u);
  region_.gate()->gate = abi::kGateOpen + abi::kGateChild;
  EXPECT_EQ(call(1).regs[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  region_.gate()->no_syscalls = 1;
  EXPECT_EQ(call(1).regs[kRcx] >> 32, 0u);
}

}  // namespace
}  // namespace blip::runtime
