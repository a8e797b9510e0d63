// SPDX-License-Identifier: MIT
// Reads of memory that may not be there, as pads make them.
#include "runtime/fetch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "ring/test_leaderless.h"
#include "ring/test_region.h"
#include "runtime/test_blob.h"
#include "runtime/test_trapped_calls.h"

namespace blip::runtime {
namespace {

constexpr uint64_t kPage = abi::kPageSize;

class FetchTest : public testing::Test {
 protected:
  // Two pages of letters, then one that cannot be read.
  FetchTest() : region_({.ring_count = 1, .class_count = 3}) {
    region_.gate()->pid = ::getpid();
    pages_ = static_cast<char*>(
        ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(pages_, 'x', 2 * kPage);
    ::mprotect(pages_ + 2 * kPage, kPage, PROT_NONE);
    std::memset(buffer_, '?', sizeof buffer_);
  }
  ~FetchTest() override { ::munmap(pages_, 3 * kPage); }

  struct Answer {
    uint64_t ok, value;
    bool operator==(const Answer&) const = default;
  };
  static constexpr Answer kFault{0, 0};

  Answer ask(uint32_t what, const void* address, const void* buffer = nullptr, uint64_t size = 0) {
    uint64_t rax = what, rcx = reinterpret_cast<uint64_t>(region_.region());
    auto rdx = reinterpret_cast<uint64_t>(address);
    register uint64_t r8 asm("r8") = reinterpret_cast<uint64_t>(buffer);
    register uint64_t r9 asm("r9") = size;
    asm volatile("call *%[code]"
                 : "+a"(rax), "+c"(rcx), "+d"(rdx)
                 : [code] "r"(code_.data() + kFetchOffset), "r"(r8), "r"(r9)
                 : "memory", "cc");
    return {rdx, rcx};
  }
  Answer ask(Fetch what, const void* address, const void* buffer = nullptr, uint64_t size = 0) {
    return ask(static_cast<uint32_t>(what), address, buffer, size);
  }
  char* end() { return pages_ + 2 * kPage; }

  ring::TestRegion region_;
  Mapping code_ = callable_blob();
  char* pages_;
  char buffer_[2 * kPage];
};

TEST_F(FetchTest, numbers) {
  const uint64_t number = 0x1122334455667788;
  EXPECT_EQ(ask(fetch_load(8), &number), (Answer{1, number}));
  EXPECT_EQ(ask(fetch_load(4), &number), (Answer{1, 0x55667788}));
  EXPECT_EQ(ask(fetch_load(2), &number), (Answer{1, 0x7788}));
  EXPECT_EQ(ask(fetch_load(1), &number), (Answer{1, 0x88}));
  EXPECT_EQ(ask(fetch_load(8), pages_ + kPage - 3).ok, 1u);
}

TEST_F(FetchTest, in_a_process_that_is_named_after_an_ended_thread) {
  EXPECT_TRUE(ring::in_leaderless_process([&] { return ask(fetch_load(1), pages_) == Answer{1, 'x'}; }));
}

// A clone that does not ask for it leaves the parent's tid in the child's memory.
TEST_F(FetchTest, a_child_that_has_its_parents_tid_reads_its_own_memory) {
  const auto* thread = static_cast<const char*>(__builtin_thread_pointer());
  const pid_t own = ::gettid();
  int32_t offset = 0;
  while (offset < 4096 && std::memcmp(thread + offset, &own, sizeof own) != 0) offset += 4;
  ASSERT_LT(offset, 4096);
  region_.gate()->tid_offset = offset;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) {
    pages_[0] = 'y';
    ::_exit(ask(fetch_load(1), pages_) == Answer{1, 'y'} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(FetchTest, what_cannot_be_read_is_no_signal) {
  EXPECT_EQ(ask(fetch_load(8), end() - 4), kFault);
  EXPECT_EQ(ask(fetch_load(1), end()), kFault);
  for (uint64_t address : {uint64_t{0}, uint64_t{8}, uint64_t{4095}, UINT64_MAX - 3, uint64_t{1} << 47,
                           uint64_t{0xffffffffff600000}, (uint64_t{1} << 47) - 4})
    EXPECT_EQ(ask(fetch_load(8), reinterpret_cast<void*>(address)), kFault) << address;
}

// A page of a file that has become shorter: a load would end the process by SIGBUS.
TEST_F(FetchTest, a_file_that_was_cut) {
  const int fd = ::memfd_create("blip-test", 0);
  ASSERT_EQ(::ftruncate(fd, kPage), 0);
  void* mapped = ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
  EXPECT_EQ(ask(fetch_load(4), mapped).ok, 1u);
  ASSERT_EQ(::ftruncate(fd, 0), 0);
  EXPECT_EQ(ask(fetch_load(4), mapped), kFault);
  ::munmap(mapped, kPage);
  ::close(fd);
}

TEST_F(FetchTest, bytes_are_all_there_or_zeros) {
  EXPECT_EQ(ask(Fetch::kBytes, pages_ + kPage - 10, buffer_, 20).ok, 1u);
  EXPECT_EQ(std::string(buffer_, 21), std::string(20, 'x') + "?");
  EXPECT_EQ(ask(Fetch::kBytes, end() - 10, buffer_, 20).ok, 0u);
  EXPECT_EQ(std::string(buffer_, 21), std::string(20, '\0') + "?");
  EXPECT_EQ(ask(Fetch::kBytes, pages_ + 1, buffer_, 2 * kPage - 1).ok, 1u);
  EXPECT_EQ(buffer_[2 * kPage - 2], 'x');
  EXPECT_EQ(ask(Fetch::kBytes, nullptr, buffer_, 0).ok, 1u);
}

TEST_F(FetchTest, texts_end_with_their_nul_or_their_most) {
  EXPECT_EQ(ask(Fetch::kText, "hello", buffer_, 6), (Answer{1, 5}));
  EXPECT_EQ(std::string(buffer_), "hello");
  EXPECT_EQ(ask(Fetch::kText, "hello", buffer_, 5), (Answer{1, 5 | abi::kLengthCut}));
  pages_[kPage + 3] = 0;
  EXPECT_EQ(ask(Fetch::kText, pages_ + kPage - 4, buffer_, 100), (Answer{1, 7}));
  end()[-1] = 0;
  EXPECT_EQ(ask(Fetch::kText, end() - 4, buffer_, 100), (Answer{1, 3})) << "what follows need not be there";
  end()[-1] = 'x';
  EXPECT_EQ(ask(Fetch::kText, end() - 4, buffer_, 100), (Answer{1, 4 | abi::kLengthCut})) << "its beginning";
  EXPECT_EQ(ask(Fetch::kText, end(), buffer_, 100), kFault);
  EXPECT_EQ(ask(Fetch::kText, end() - 4, buffer_, 4), (Answer{1, 4 | abi::kLengthCut}));
}

TEST_F(FetchTest, comparisons) {
  const std::string wanted = "a text that is longer than what is read at once, with an end";
  char* there = end() - wanted.size() - 1;
  std::memcpy(there, wanted.c_str(), wanted.size() + 1);
  EXPECT_EQ(ask(Fetch::kTextIs, there, wanted.c_str(), wanted.size() + 1), (Answer{1, 1}));
  EXPECT_EQ(ask(Fetch::kTextIs, there + 1, wanted.c_str(), wanted.size() + 1), (Answer{1, 0}))
      << "the first difference comes before the page that is not there";
  EXPECT_EQ(ask(Fetch::kTextIs, there + 1, wanted.c_str() + 1, wanted.size() + 1), kFault);
  EXPECT_EQ(ask(Fetch::kBytesAre, there, wanted.data(), wanted.size()), (Answer{1, 1}));
  EXPECT_EQ(ask(Fetch::kBytesAre, there + 1, wanted.data(), wanted.size()), (Answer{1, 0}));
  EXPECT_EQ(ask(Fetch::kBytesAre, there + 2, wanted.data(), wanted.size()), kFault) << "all are read";
  EXPECT_EQ(ask(Fetch::kTextIs, nullptr, wanted.data(), 0), (Answer{1, 1}));
}

TEST_F(FetchTest, without_system_calls_everything_is_a_fault) {
  region_.gate()->no_syscalls = 1;
  EXPECT_EQ(ask(fetch_load(8), pages_), kFault);
  EXPECT_EQ(ask(Fetch::kBytes, pages_, buffer_, 8), kFault);
  EXPECT_EQ(ask(Fetch::kText, pages_, buffer_, 8), kFault);
  EXPECT_EQ(ask(Fetch::kThreadPointer, nullptr), kFault);
}

// A child that has its parent's memory, or whose page was wiped.
TEST_F(FetchTest, a_process_whose_number_is_not_known) {
  const uint64_t number = 7;
  region_.gate()->gate = abi::kGateOpen + abi::kGateChild;
  region_.gate()->pid = 1;
  EXPECT_EQ(ask(fetch_load(8), &number), (Answer{1, 7}));
  region_.gate()->gate = abi::kGateClosed;
  region_.gate()->pid = 0;
  EXPECT_EQ(ask(fetch_load(8), &number), (Answer{1, 7}));
}

// A fork's child whose page was wiped; its parent's filter was not.
TEST_F(FetchTest, an_inherited_filter) {
  const uint64_t number = 7;
  region_.gate()->gate = abi::kGateClosed;
  region_.gate()->pid = 0;
  region_.header()->filtered = 1;
  EXPECT_EQ(ask(fetch_load(8), &number), kFault);
  EXPECT_EQ(region_.gate()->calls, 0u);
}

TEST_F(FetchTest, system_calls_are_announced) {
  region_.gate()->gate = abi::kGateOpen | abi::kGateChild;
  const TrappedCalls calls = with_trapped_calls(region_.gate(), [&] { ask(fetch_load(8), pages_); });
  EXPECT_EQ(calls.count, 2u);
  EXPECT_EQ(calls.unannounced, 0u);
  EXPECT_EQ(region_.gate()->calls, 0u);
}

TEST_F(FetchTest, the_thread_pointer) {
  uint64_t pointer;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  EXPECT_EQ(ask(Fetch::kThreadPointer, nullptr), (Answer{1, pointer}));
  region_.gate()->tid_offset = 0;
  region_.gate()->no_syscalls = 1;
  EXPECT_EQ(ask(Fetch::kThreadPointer, nullptr), (Answer{1, pointer}));
}

}  // namespace
}  // namespace blip::runtime
