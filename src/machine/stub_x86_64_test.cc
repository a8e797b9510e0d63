// SPDX-License-Identifier: MIT
#include "machine/stub.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace blip::machine {
namespace {

ThreadRegisters stopped_at(int64_t rax, int64_t orig_rax) {
  ThreadRegisters registers;
  registers.rip = 0x1002;
  registers.rsp = 0x7000;
  registers.rax = static_cast<uint64_t>(rax);
  registers.orig_rax = static_cast<uint64_t>(orig_rax);
  return registers;
}

TEST(Stub, ends_with_the_address_where_the_program_goes_on) {
  const auto stub = make_stub(0x1122334455667788);
  uint64_t resume = 0;
  std::memcpy(&resume, stub.data() + 33, sizeof resume);
  EXPECT_EQ(resume, 0x1122334455667788u);
  EXPECT_TRUE(is_stub(stub));
  EXPECT_FALSE(is_stub(std::array<uint8_t, kStubSize>{}));
}

TEST(Stub, restarts_interrupted_calls_itself) {
  for (const int64_t code : {-512, -513, -514}) {
    const ThreadRegisters resume = resume_state(stopped_at(code, SYS_read));
    EXPECT_EQ(resume.rip, 0x1000u);
    EXPECT_EQ(resume.rax, static_cast<uint64_t>(SYS_read));
  }
  const ThreadRegisters block = resume_state(stopped_at(-516, SYS_nanosleep));
  EXPECT_EQ(block.rip, 0x1000u);
  EXPECT_EQ(block.rax, static_cast<uint64_t>(SYS_restart_syscall));
}

TEST(Stub, leaves_other_states_alone) {
  for (const auto& registers :
       {stopped_at(5, -1), stopped_at(-512, -1), stopped_at(-4, SYS_read), stopped_at(0, SYS_read)}) {
    const ThreadRegisters resume = resume_state(registers);
    EXPECT_EQ(resume.rip, registers.rip);
    EXPECT_EQ(resume.rax, registers.rax);
  }
}

TEST(Stub, position_in_the_stub_tells_what_was_popped) {
  constexpr std::pair<uint64_t, size_t> kOfCalls[] = {{0, 0},  {1, 1},  {4, 4},  {6, 5},  {8, 6},
                                                      {10, 7}, {11, 8}, {13, 0}, {15, 0}, {20, 0}};
  for (const auto& [offset, popped] : kOfCalls) {
    ASSERT_TRUE(place_in_stub(offset)) << offset;
    EXPECT_EQ(place_in_stub(offset)->popped, popped) << offset;
    EXPECT_FALSE(place_in_stub(offset)->in_frame) << offset;
  }
  constexpr std::pair<uint64_t, size_t> kOfFrames[] = {{22, 8}, {23, 9}, {25, 10}, {26, 11}, {27, 12}};
  for (const auto& [offset, popped] : kOfFrames) {
    ASSERT_TRUE(place_in_stub(offset)) << offset;
    EXPECT_EQ(place_in_stub(offset)->popped, popped) << offset;
    EXPECT_TRUE(place_in_stub(offset)->in_frame) << offset;
  }
  for (const uint64_t middle : {5, 7, 9, 12, 14, 16, 21, 24, 28, 33, 48})
    EXPECT_FALSE(place_in_stub(middle)) << middle;
  EXPECT_EQ(resume_pc_of(make_stub(0x4711)), 0x4711u);
}

TEST(Stub, position_tells_how_many_calls_were_made) {
  constexpr uint64_t kFirst = 0x7000, kCall = sizeof(StubCall);
  EXPECT_EQ(calls_made(0, kFirst, kFirst), 0u);
  EXPECT_EQ(calls_made(10, kFirst + kCall - 8, kFirst), 0u);
  EXPECT_EQ(calls_made(11, kFirst + kCall, kFirst), 0u);  // all popped, before the call
  EXPECT_EQ(calls_made(13, kFirst + kCall, kFirst), 0u);
  EXPECT_EQ(calls_made(15, kFirst + kCall, kFirst), 1u);
  EXPECT_EQ(calls_made(20, kFirst + kCall, kFirst), 1u);
  EXPECT_EQ(calls_made(0, kFirst + kCall, kFirst), 1u);
  EXPECT_EQ(calls_made(4, kFirst + 2 * kCall + 32, kFirst), 2u);
  EXPECT_EQ(calls_made(15, kFirst + 3 * kCall, kFirst), 3u);
  EXPECT_FALSE(calls_made(27, kFirst + kCall, kFirst)) << "it is leaving";
  EXPECT_FALSE(calls_made(2000, kFirst, kFirst)) << "it is elsewhere";
}

TEST(Stub, frame_holds_what_the_stub_pops) {
  ThreadRegisters registers = stopped_at(1, -1);
  registers.rdi = 2;
  registers.r11 = 3;
  registers.eflags = 0x246;
  const StubFrame frame = make_stub_frame(registers);
  EXPECT_EQ(frame.registers.number, 1u);
  EXPECT_EQ(frame.registers.arguments[0], 2u);
  EXPECT_EQ(frame.others[1], 3u);
  EXPECT_EQ(frame.others[2], 0x246u);
  EXPECT_EQ(frame.others[3], 0x7000u);
  EXPECT_EQ(frame.registers.more, 0u);
  EXPECT_EQ(with_frame(ThreadRegisters(), frame).r11, 3u);
  EXPECT_EQ(make_stub_frame(with_frame(ThreadRegisters(), frame)).others, frame.others);
}

}  // namespace
}  // namespace blip::machine
