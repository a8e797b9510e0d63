// SPDX-License-Identifier: MIT
#include "proc/stub.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

namespace blip::proc {
namespace {

Registers stopped_at(int64_t rax, int64_t orig_rax) {
  Registers registers;
  registers.rip = 0x1002;
  registers.rsp = 0x7000;
  registers.rax = static_cast<uint64_t>(rax);
  registers.orig_rax = static_cast<uint64_t>(orig_rax);
  return registers;
}

TEST(Stub, ends_with_the_address_where_the_program_goes_on) {
  const auto stub = make_stub(0x1122334455667788);
  uint64_t resume = 0;
  std::memcpy(&resume, stub.data() + 23, sizeof resume);
  EXPECT_EQ(resume, 0x1122334455667788u);
  EXPECT_TRUE(is_stub(stub));
  EXPECT_FALSE(is_stub(std::array<uint8_t, kStubSize>{}));
}

TEST(Stub, restarts_interrupted_calls_itself) {
  for (const int64_t code : {-512, -513, -514}) {
    const Registers resume = resume_state(stopped_at(code, SYS_read));
    EXPECT_EQ(resume.rip, 0x1000u);
    EXPECT_EQ(resume.rax, static_cast<uint64_t>(SYS_read));
  }
  const Registers block = resume_state(stopped_at(-516, SYS_nanosleep));
  EXPECT_EQ(block.rip, 0x1000u);
  EXPECT_EQ(block.rax, static_cast<uint64_t>(SYS_restart_syscall));
}

TEST(Stub, leaves_other_states_alone) {
  for (const auto& registers :
       {stopped_at(5, -1), stopped_at(-512, -1), stopped_at(-4, SYS_read), stopped_at(0, SYS_read)}) {
    const Registers resume = resume_state(registers);
    EXPECT_EQ(resume.rip, registers.rip);
    EXPECT_EQ(resume.rax, registers.rax);
  }
}

TEST(Stub, position_in_the_stub_tells_what_was_popped) {
  EXPECT_EQ(words_popped_at(0), 0u);
  EXPECT_EQ(words_popped_at(2), 0u);
  EXPECT_EQ(words_popped_at(3), 1u);
  EXPECT_EQ(words_popped_at(8), 5u);
  EXPECT_EQ(words_popped_at(17), 11u);
  for (const uint64_t middle : {1, 7, 9, 11, 14, 18, 23, 40}) EXPECT_FALSE(words_popped_at(middle)) << middle;
  EXPECT_EQ(resume_rip_of(make_stub(0x4711)), 0x4711u);
}

TEST(Stub, frame_holds_what_the_stub_pops) {
  Registers registers = stopped_at(1, -1);
  registers.rdi = 2;
  registers.r11 = 3;
  registers.eflags = 0x246;
  const StubFrame frame = make_stub_frame(registers);
  EXPECT_EQ(frame.rax, 1u);
  EXPECT_EQ(frame.rdi, 2u);
  EXPECT_EQ(frame.r11, 3u);
  EXPECT_EQ(frame.rflags, 0x246u);
  EXPECT_EQ(frame.rsp, 0x7000u);
}

}  // namespace
}  // namespace blip::proc
