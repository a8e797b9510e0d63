// SPDX-License-Identifier: MIT
// The blob as a pad uses it: copied to executable memory, called with nothing but eax and rcx.
#include "runtime/test_blob.h"

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

using test::kRax, test::kRcx, test::kRdx;

// clang-format off
asm(R"(
    .intel_syntax noprefix
    .text
    .globl blip_test_call_with_registers
blip_test_call_with_registers:
)" BLIP_TEST_SAVE_CALLEE_SAVED R"(
    push rdi
)" BLIP_TEST_LOAD_REGISTERS R"(
    push [rdi+136]
    mov rdi, [rdi+56]
    call [rsp]
    lea rsp, [rsp+8]
    xchg rdi, [rsp]
)" BLIP_TEST_STORE_REGISTERS R"(
    pop rax
    mov [rdi+56], rax
)" BLIP_TEST_RESTORE_CALLEE_SAVED R"(
    ret
    .att_syntax
)");
// clang-format on

class Blob : public testing::Test {
 protected:
  Blob() : region_(kGeometry) {}

  Frame call(uint16_t class_id, uint32_t entry = kReserveOffset, uint64_t clock_addr = 0) {
    Frame frame{};
    for (int i = 0; i < 16; ++i) frame.registers.gpr[i] = 0x1111111111111111u * static_cast<unsigned>(i + 1);
    frame.registers.gpr[kRax] = class_id;
    frame.registers.gpr[kRcx] = reinterpret_cast<uint64_t>(region_.region());
    if (entry == kReserveMonotonicOffset) frame.registers.gpr[kRdx] = clock_addr;
    frame.code = reinterpret_cast<uint64_t>(code_.data()) + entry;
    blip_test_call_with_registers(&frame);
    return frame;
  }

  static void commit(const Frame& frame, uint64_t field) {
    auto* record = reinterpret_cast<uint64_t*>(frame.registers.gpr[kRdx]);
    record[1] = field;
    record[-1] += 1;
  }

  ring::TestRegion region_;
  Mapping code_ = callable_blob();
};

TEST_F(Blob, is_small) {
  EXPECT_GT(runtime_blob().size(), 64u);
  EXPECT_LT(runtime_blob().size(), 20480u);
}

TEST_F(Blob, a_reserved_record_is_found_by_the_reader) {
  const Frame frame = call(1);
  ASSERT_NE(frame.registers.gpr[kRdx], 0u);
  EXPECT_EQ(frame.registers.gpr[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  EXPECT_LT(frame.registers.gpr[kRcx] & 0xffffffff, 4096u);
  commit(frame, 42);
  ring::SharedRingReader reader(kGeometry, region_.region(), kSizes);
  ring::Collector collected;
  EXPECT_EQ(reader.drain(collected).records, 1u);
  EXPECT_EQ(collected.events[0].words[1], 42u);
}

TEST_F(Blob, keeps_every_register_but_the_three_it_may_change) {
  for (int i = 0; i < 6; ++i) {  // the last two find the ring full
    const Frame frame = call(1);
    for (int reg = test::kRbx; reg < 16; ++reg)
      EXPECT_EQ(frame.registers.gpr[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
  }
}

TEST_F(Blob, a_full_ring_counts_as_discarded) {
  for (int i = 0; i < 4; ++i) commit(call(1), 0);
  EXPECT_EQ(call(2).registers.gpr[kRdx], 0u);
  EXPECT_EQ(ring::CounterReader(kGeometry, region_.region()).read(abi::kDiscarded, kGeometry.ring_count, 2),
            1u);
}

TEST_F(Blob, a_closed_gate_counts_as_skipped) {
  region_.gate()->gate = abi::kGateClosed;
  EXPECT_EQ(call(2).registers.gpr[kRdx], 0u);
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
  const uint64_t time = abi::header_time(*reinterpret_cast<uint64_t*>(frame.registers.gpr[kRdx]));
  EXPECT_GE(time, before & abi::kTimeMask);
  EXPECT_LE(time, after & abi::kTimeMask);
  EXPECT_EQ(frame.registers.gpr[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  EXPECT_LT(frame.registers.gpr[kRcx] & 0xffffffff, 4096u);
  for (int reg = test::kRbx; reg < 16; ++reg)
    EXPECT_EQ(frame.registers.gpr[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
}

TEST_F(Blob, stamps_with_the_clock_it_is_given) {
  const Frame frame = call(1, kReserveMonotonicOffset, reinterpret_cast<uint64_t>(&fake_clock));
  EXPECT_EQ(abi::header_time(*reinterpret_cast<uint64_t*>(frame.registers.gpr[kRdx])), 12'345'000'000'678u);
  for (int reg = test::kRbx; reg < 16; ++reg)
    EXPECT_EQ(frame.registers.gpr[reg], 0x1111111111111111u * static_cast<unsigned>(reg + 1)) << reg;
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
    EXPECT_EQ(tsc.registers.gpr[kRcx] & 0xffffffff, cpu);
    commit(tsc, 0);
    const Frame monotonic = call(1, kReserveMonotonicOffset);
    EXPECT_EQ(monotonic.registers.gpr[kRcx] & 0xffffffff, cpu);
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
  EXPECT_EQ(call(1).registers.gpr[kRcx] >> 32, 1234567u);
  region_.gate()->gate = abi::kGateOpen + abi::kGateChild;
  EXPECT_EQ(call(1).registers.gpr[kRcx] >> 32, static_cast<uint64_t>(::syscall(SYS_gettid)));
  region_.gate()->no_syscalls = 1;
  EXPECT_EQ(call(1).registers.gpr[kRcx] >> 32, 0u);
}

}  // namespace
}  // namespace blip::runtime
