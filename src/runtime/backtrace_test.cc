// SPDX-License-Identifier: MIT
// The walk as pads call it: the blob's own code, on this process's stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ring/test_region.h"
#include "runtime/test_blob.h"
#include "runtime/test_trapped_calls.h"
#include "unwind/stacks.h"
#include "unwind/test_self.h"

namespace blip::runtime {
namespace {

using unwind::Frames;

// Calls the blob as a pad does, and checks that it leaves all other registers alone.
uint64_t call_backtrace(const uint8_t* code, uint64_t hit, const uint8_t* header, uint64_t rsp) {
  uint64_t id = rsp, changed = 0;
  asm volatile(
      "mov $0x5151, %%rsi; mov $0x5252, %%rdi; mov $0x5353, %%r8; mov $0x5454, %%r9; mov $0x5555, %%r10;"
      "mov $0x5656, %%r11;"
      "call *%%rbx;"
      "xor $0x5151, %%rsi; xor $0x5252, %%rdi; xor $0x5353, %%r8; xor $0x5454, %%r9; xor $0x5555, %%r10;"
      "xor $0x5656, %%r11;"
      "or %%rdi, %%rsi; or %%r8, %%rsi; or %%r9, %%rsi; or %%r10, %%rsi; or %%r11, %%rsi"
      : "+d"(id), "+a"(hit), "+c"(header), "=&S"(changed)
      : "b"(code + kBacktraceOffset)
      : "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  EXPECT_EQ(changed, 0u);
  return id;
}

unwind::StackWindow window;
[[gnu::target("general-regs-only"), gnu::noinline]] abi::SafeWord load_in_window(uint64_t address) {
  return window.read(address);
}

class Backtrace : public testing::Test {
 protected:
  void SetUp() override {
    window = unwind::own_window();
    header().stacks_addr = reinterpret_cast<uint64_t>(memory_.data());
    header().safe_load_addr = 0;
    header().cache_addr = 0;
    header().control_addr = reinterpret_cast<uint64_t>(region_.region());
    region_.gate()->pid = ::getpid();
    region_.gate()->no_syscalls = 1;
  }
  static abi::UnwindHeader& header() { return unwind::own_tables().arena->header(); }

  // The frames behind an id, without the first.
  std::vector<uint64_t> frames(uint64_t id) const {
    std::vector<uint64_t> found;
    if (const auto stack = stacks_.find(static_cast<uint32_t>(id)))
      for (size_t i = 1; i < stack->frames.size(); ++i) found.push_back(stack->frames[i].address.value);
    return found;
  }

  [[gnu::noinline]] void expect_the_same_as_glibc() {
    void* theirs[Frames::kMost];
    const int count = ::backtrace(theirs, Frames::kMost);
    std::vector<uint64_t> callers;
    for (int i = 1; i < count; ++i) callers.push_back(reinterpret_cast<uint64_t>(theirs[i]));
    for (int round = 0; round < 2; ++round) {
      BLIP_OWN_REGISTERS(registers);
      // rbp is whatever it is: this function is compiled with none to be relied on, like the target's.
      const uint64_t id =
          call_backtrace(code_.data(), registers.rip, unwind::own_tables().header(), registers.rsp);
      EXPECT_EQ(frames(id), callers);
      EXPECT_EQ(stacks_.find(static_cast<uint32_t>(id))->end, abi::UnwindEnd::kOutermost);
    }
    EXPECT_EQ(stacks_.refused(), 0u);
  }

  // The frames of a hit at some function's entry; `rsp` points to its return address.
  std::vector<uint64_t> frames_at_entry(uint64_t rsp) {
    const uint64_t id =
        call_backtrace(code_.data(), 0x1000 | abi::kHitAtEntry, unwind::own_tables().header(), rsp);
    EXPECT_EQ(stacks_.find(static_cast<uint32_t>(id))->end, abi::UnwindEnd::kUnreadable);
    return frames(id);
  }

  ring::TestRegion region_{{.ring_count = 1, .class_count = 3}};
  unwind::StackTableSize size_{.slots = 64, .frames = 1024, .depth = 64};
  std::vector<uint64_t> memory_ = std::vector<uint64_t>(size_.bytes() / 8);
  unwind::StackTableReader stacks_ = unwind::StackTableReader::create(
      {reinterpret_cast<uint8_t*>(memory_.data()), memory_.size() * 8}, size_);
  Mapping code_ = callable_blob();
};

TEST_F(Backtrace, words_by_a_safe_load) {
  header().safe_load_addr = reinterpret_cast<uint64_t>(&load_in_window);
  expect_the_same_as_glibc();
}

TEST_F(Backtrace, rules_by_a_cache) {
  std::vector<uint64_t> cache(abi::kCachedRules);
  header().cache_addr = reinterpret_cast<uint64_t>(cache.data());
  header().safe_load_addr = reinterpret_cast<uint64_t>(&load_in_window);
  expect_the_same_as_glibc();
  expect_the_same_as_glibc();
  EXPECT_GT(std::count_if(cache.begin(), cache.end(), [](uint64_t entry) { return entry != 0; }), 4);
}

TEST_F(Backtrace, words_by_the_kernel) {
  region_.gate()->no_syscalls = 0;
  expect_the_same_as_glibc();
}

TEST_F(Backtrace, beyond_the_page_of_rsp_nothing_is_read_unasked) {
  alignas(4096) uint64_t page[1024] = {};  // the next page is there, but who knows
  const uint64_t rsp = reinterpret_cast<uint64_t>(page) + 4096 - 8;
  page[511] = reinterpret_cast<uint64_t>(&load_in_window) + 1;
  EXPECT_THAT(frames_at_entry(rsp), testing::ElementsAre(page[511]));
}

TEST_F(Backtrace, memory_that_is_not_there) {
  region_.gate()->no_syscalls = 0;
  auto pages = Mapping::create(8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(pages);
  ASSERT_EQ(::mprotect(pages->data() + 4096, 4096, PROT_NONE), 0);
  auto* last = reinterpret_cast<uint64_t*>(pages->data() + 4096 - 8);
  *last = reinterpret_cast<uint64_t>(&load_in_window) + 1;
  EXPECT_THAT(frames_at_entry(reinterpret_cast<uint64_t>(last)), testing::ElementsAre(*last));
}

// rsp at a page's end: the pad's own words are on the page below.
TEST_F(Backtrace, nothing_at_rsp) {
  auto pages = Mapping::create(8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(pages);
  ASSERT_EQ(::mprotect(pages->data() + 4096, 4096, PROT_NONE), 0);
  EXPECT_THAT(frames_at_entry(reinterpret_cast<uint64_t>(pages->data() + 4096)), testing::IsEmpty());
}

// A filter that comes waits for calls under way: each must be counted.
TEST_F(Backtrace, system_calls_are_announced) {
  region_.gate()->no_syscalls = 0;
  region_.gate()->gate = abi::kGateOpen | abi::kGateChild;  // the pid is asked for too
  alignas(4096) uint64_t page[1024] = {};
  page[511] = reinterpret_cast<uint64_t>(&load_in_window) + 1;
  const auto walk = [&] { frames_at_entry(reinterpret_cast<uint64_t>(&page[511])); };
  const TrappedCalls calls = with_trapped_calls(region_.gate(), walk);
  EXPECT_GE(calls.count, 2u);
  EXPECT_EQ(calls.unannounced, 0u);
  EXPECT_EQ(region_.gate()->calls, 0u);
}

}  // namespace
}  // namespace blip::runtime
