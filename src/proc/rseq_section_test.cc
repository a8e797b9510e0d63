// SPDX-License-Identifier: MIT
#include "proc/rseq_section.h"

#include <gtest/gtest.h>
#include <sys/rseq.h>

#include "proc/test_caller.h"
#include "proc/test_child.h"

// spin_in_section(area, flag): waits for the flag inside a restartable sequence, entering it again after each
// abort, and returns the number of aborts.
asm(R"(
    .pushsection .data.rel.local, "aw"
    .balign 32
spin_descriptor:
    .long 0, 0
    .quad spin_start, spin_end - spin_start, spin_abort
    .popsection
    .pushsection .text
    .globl spin_in_section, spin_start, spin_end, spin_abort
spin_in_section:
    xor %eax, %eax
1:  lea spin_descriptor(%rip), %rdx
    mov %rdx, 8(%rdi)
spin_start:
    mov (%rsi), %rcx
    jrcxz spin_start
spin_end:
    ret
    .long 0x53053053
spin_abort:
    inc %rax
    jmp 1b
    .popsection
)");

extern "C" {
uint64_t spin_in_section(void* area, volatile uint64_t* flag);
extern const char spin_start[], spin_end[], spin_abort[];
}

namespace blip::proc {
namespace {

using test::Child;

volatile uint64_t spin_flag = 0;

TargetAddr address(const volatile void* object) { return TargetAddr(reinterpret_cast<uint64_t>(object)); }

void spin(Child& self) {
  self.tell(1);
  char* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  self.tell(static_cast<int64_t>(spin_in_section(area, &spin_flag)));
}

bool in_section(const Thread& thread) {
  return AddrRange{address(spin_start), address(spin_end)}.contains(TargetAddr(thread.registers.rip));
}

TEST(RseqSection, a_thread_stopped_inside_goes_on_at_the_abort_address) {
  if (__rseq_size == 0) GTEST_SKIP() << "no rseq registration";
  Child child(spin);
  ASSERT_TRUE(child.hear());
  test::nap(5);
  const auto process = Process::open(child.pid());
  auto memory = Memory::open(child.pid());
  const auto site = find_stub_site(*memory, *read_maps(child.pid()));
  ASSERT_TRUE(process && memory && site);
  int inside = 0;
  for (int i = 0; i < 20; ++i) {
    auto attachment = Attachment::stop_all(*process);
    ASSERT_TRUE(attachment);
    if (!in_section(attachment->threads()[0])) continue;
    ++inside;
    {
      auto caller = RemoteCaller::create(*attachment, *memory, *site);
      ASSERT_TRUE(caller) << caller.error().message();
      EXPECT_TRUE(test::map_and_unmap(*caller));
    }
    EXPECT_EQ(TargetAddr(attachment->threads()[0].registers.rip), address(spin_abort));
    EXPECT_EQ(*memory->read_value<uint64_t>(attachment->threads()[0].rseq()->area + 8), 0u);
  }
  EXPECT_GT(inside, 0);
  ASSERT_TRUE(memory->write(address(&spin_flag), std::vector<uint8_t>{1}));
  const auto aborts = child.hear();
  ASSERT_TRUE(aborts);
  EXPECT_GE(*aborts, inside);
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace blip::proc
