// SPDX-License-Identifier: MIT
#include "proc/files/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include <vector>

#include "proc/test_child.h"

namespace blip::proc {
namespace {

using test::Child;

uint64_t shared_value = 0x1122334455667788;
const uint8_t read_only_bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

template <typename T>
TargetAddr address(const T& object) {
  return TargetAddr(reinterpret_cast<uint64_t>(&object));
}

void sleep_forever(Child&) {
  for (;;) ::pause();
}

TEST(Memory, reads_and_writes) {
  Child child(sleep_forever);
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(*memory->read_value<uint64_t>(address(shared_value)), 0x1122334455667788u);
  const std::vector<uint8_t> bytes{0xaa, 0xbb};
  ASSERT_TRUE(memory->write(address(shared_value) + 1, bytes));
  EXPECT_EQ(*memory->read_value<uint64_t>(address(shared_value)), 0x1122334455bbaa88u);
  EXPECT_EQ(shared_value, 0x1122334455667788u);
}

TEST(Memory, writes_read_only_pages) {
  Child child(sleep_forever);
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory);
  ASSERT_TRUE(memory->write(address(read_only_bytes), std::vector<uint8_t>{99}));
  EXPECT_EQ(*memory->read_value<uint8_t>(address(read_only_bytes)), 99);
}

TEST(Memory, unmapped_addresses_are_an_error) {
  Child child(sleep_forever);
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->read_value<uint8_t>(TargetAddr(8)));
  EXPECT_FALSE(memory->write(TargetAddr(8), std::vector<uint8_t>{1}));
  EXPECT_FALSE(memory->read_value<uint64_t>(TargetAddr(0xffffffffff700000)));
  EXPECT_FALSE(memory->mm_gone());
}

TEST(Memory, many_pieces_at_once) {
  Child child(sleep_forever);
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory);
  std::vector<uint8_t> bytes(3000);
  std::vector<ReadRequest> requests;
  for (size_t i = 0; i < bytes.size(); ++i)
    requests.push_back({address(read_only_bytes) + i % 16, std::span(bytes).subspan(i, 1)});
  ASSERT_TRUE(memory->read_all(requests));
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], i % 16 + 1);
  requests.push_back({TargetAddr(8), std::span(bytes).first(1)});
  EXPECT_FALSE(memory->read_all(requests));
}

TEST(Memory, exec_and_exit_are_gone) {
  Child child([](Child& self) {
    ::raise(SIGSTOP);
    ::execl("/bin/sleep", "sleep", "100", nullptr);
    self.tell(1);
  });
  ASSERT_TRUE(child.wait_for_state('T'));
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->mm_gone());
  child.kill(SIGCONT);
  for (int i = 0; i < 2000 && !memory->mm_gone(); ++i) test::nap(1);
  EXPECT_TRUE(memory->mm_gone());
  EXPECT_EQ(memory->read_value<uint64_t>(address(shared_value)).error().kind(), ErrorKind::kGone);
  EXPECT_EQ(memory->write(address(shared_value), std::vector<uint8_t>{1}).error().kind(), ErrorKind::kGone);
  uint8_t byte;
  const ReadRequest request{address(shared_value), {&byte, 1}};
  EXPECT_EQ(memory->read_all({&request, 1}).error().kind(), ErrorKind::kGone);
}

// A descriptor that cannot write refuses as a kernel booted with proc_mem.force_override=never does.
TEST(Memory, pokes_where_proc_refuses) {
  Child child(sleep_forever);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, child.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(::waitpid(child.pid(), nullptr, __WALL), child.pid());
  auto memory = Memory::open_read_only(child.pid());
  ASSERT_TRUE(memory);
  const std::vector<uint8_t> bytes{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  EXPECT_FALSE(memory->write(address(read_only_bytes) + 3, bytes));
  memory->set_fallback_tid(child.pid());
  ASSERT_TRUE(memory->write(address(read_only_bytes) + 3, bytes));
  std::vector<uint8_t> got(16);
  ASSERT_TRUE(memory->read(address(read_only_bytes), got));
  EXPECT_EQ(got, (std::vector<uint8_t>{1, 2, 3, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 15, 16}));
}

}  // namespace
}  // namespace blip::proc
