// SPDX-License-Identifier: MIT
// Generated code for reads without faults, run in this process: it plays target and blip.
#include "jit/emit/ranges.h"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "base/mapping.h"
#include "jit/emit/section.h"
#include "jit/safe_load.h"
#include "jit/stubs.h"
#include "jit/unmap_pad.h"
#include "ring/range_publisher.h"
#include "ring/ranges.h"
#include "ring/test_region.h"
#include "runtime/test_blob.h"

namespace blip::jit {
namespace {

using namespace asmjit::x86;  // NOLINT: register names

constexpr abi::Geometry kGeometry = {.ring_count = 512, .class_count = 2, .ranges = true};
constexpr uint64_t kPage = 4096;

class JitRanges : public testing::Test {
 protected:
  JitRanges() {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
    region_.gate()->own_ranges = 1;
    env_.geometry = kGeometry;
    env_.control = TargetAddr(reinterpret_cast<uint64_t>(control()));
  }

  uint8_t* control() const { return region_.region(); }
  TargetAddr place() const { return TargetAddr(reinterpret_cast<uint64_t>(code_.data())); }
  void put(uint64_t offset, const std::vector<uint8_t>& bytes) {
    CHECK(::mprotect(code_.data(), code_.size(), PROT_READ | PROT_WRITE) == 0);
    std::memcpy(code_.data() + offset, bytes.data(), bytes.size());
    CHECK(::mprotect(code_.data(), code_.size(), PROT_READ | PROT_EXEC) == 0);
  }
  void publish(const void* begin, uint64_t size) {
    const TargetAddr at(reinterpret_cast<uint64_t>(begin));
    const AddrRange ranges[] = {{at, at + size}};
    ASSERT_TRUE(publisher_.publish(publisher_.begin().value(), ranges, TargetAddr(0)));
  }

  ring::TestRegion region_{kGeometry};
  ring::RangePublisher publisher_{kGeometry, region_.region()};
  ProcessEnvironment env_;
  Mapping blob_ = runtime::callable_blob();
  Mapping code_ = *Mapping::create(kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

constexpr uint32_t kHint = 7;

class RangeCheck : public JitRanges {
 protected:
  // The number of bytes that may be read from the address on; 0: fewer than eight.
  uint64_t room(uint64_t addr) {
    reading_.address = 1;
    const auto code = reinterpret_cast<uint64_t (*)(uint64_t, abi::Reading*)>(code_.data());
    const uint64_t room = code(addr, &reading_);
    EXPECT_EQ(reading_.address, addr);  // whether it is there or not
    return room;
  }
  bool find(uint64_t addr) const { return ring::find_range(control(), addr, kHint); }

  void SetUp() override {
    CodeBuffer code(place());
    auto& a = code.assembler();
    asmjit::Label elsewhere = a.newLabel();
    a.mov(rax, rdi);
    emit_range_check(
        a, env_,
        {.address = rax, .size = 8, .hint = range_hint(kHint), .kept = qword_ptr(rsp, -8), .reading = rsi},
        elsewhere);
    a.mov(rax, rdx);
    a.ret();
    a.bind(elsewhere);
    a.xor_(eax, eax);
    a.ret();
    put(0, code.finish().value());
    publish(reinterpret_cast<void*>(0x10000), 0x1000);
  }

  abi::Reading reading_{};
};

TEST_F(RangeCheck, nothing_without_a_hint) { EXPECT_EQ(room(0x10000), 0u); }

TEST_F(RangeCheck, the_range_and_nothing_beside_it) {
  ASSERT_TRUE(find(0x10800));
  EXPECT_EQ(room(0x10000), 0x1000u);
  EXPECT_EQ(room(0x10ff8), 8u);
  for (uint64_t bad : {uint64_t{0x10ff9}, uint64_t{0x11000}, uint64_t{0xffff}, uint64_t{0}, UINT64_MAX,
                       UINT64_MAX - 7, uint64_t{1} << 63})
    EXPECT_EQ(room(bad), 0u) << bad;
}

TEST_F(RangeCheck, what_was_cut_and_what_was_published_anew) {
  ASSERT_TRUE(find(0x10800));
  ASSERT_TRUE(ring::begin_unmap(control(), 0x10800, 0x10900));
  ring::end_unmap(control());
  EXPECT_EQ(room(0x10000), 0x800u);
  EXPECT_EQ(room(0x10800), 0u);
  publish(reinterpret_cast<void*>(0x10000), 0x1000);
  EXPECT_EQ(room(0x10000), 0u);
  ASSERT_TRUE(find(0x10800));
  EXPECT_EQ(room(0x10800), 0x800u);
}

class SafeLoad : public JitRanges {
 protected:
  void SetUp() override {
    if (__rseq_size == 0) GTEST_SKIP() << "this libc did not register rseq";
    env_.rseq = Rseq{static_cast<int32_t>(__rseq_offset), RSEQ_SIG};
    env_.unwind = TargetAddr(1);
    ASSERT_TRUE(has_safe_load(env_));
    CodeBuffer code(place());
    const TargetAddr runtime(reinterpret_cast<uint64_t>(blob_.data()));
    AreaStubs stubs;
    stubs.find_range = runtime + runtime::kFindRangeOffset;
    stubs.find_reading = runtime + runtime::kFindReadingOffset;
    emit_safe_load(code, env_, stubs);
    put(0, code.finish().value());
    publish(words_, sizeof words_);
  }

  abi::SafeWord load(uint64_t addr) const { return reinterpret_cast<abi::SafeLoad>(code_.data())(addr); }
  uint64_t at(size_t byte) const { return reinterpret_cast<uint64_t>(words_) + byte; }
  void expect_nothing_at(uint64_t addr) const { EXPECT_EQ(load(addr).is_there, 0u) << addr; }

  uint64_t words_[4] = {11, 22, 33, 44};
};

TEST_F(SafeLoad, words_of_the_range_and_nothing_beside_it) {
  for (size_t i = 0; i < 4; ++i) {
    const abi::SafeWord word = load(at(8 * i));
    EXPECT_EQ(word.is_there, 1u);
    EXPECT_EQ(word.word, words_[i]);
  }
  for (uint64_t bad : {at(25), at(32), at(0) - 1, uint64_t{0}, UINT64_MAX - 7, uint64_t{1} << 63})
    expect_nothing_at(bad);
}

TEST_F(SafeLoad, says_where_it_reads) {
  const abi::RangeControl& ranges = *ring::range_control(control());
  const uint64_t thread =
      reinterpret_cast<uint64_t>(__builtin_thread_pointer()) + static_cast<uint64_t>(__rseq_offset) + kRseqCs;
  const uint32_t index = abi::reader_index(thread);
  EXPECT_EQ(load(at(8)).word, 22u);
  EXPECT_EQ(ranges.readers[index], thread);
  EXPECT_EQ(ranges.readings[index].address, at(8));
  EXPECT_EQ(load(at(16)).word, 33u);
  EXPECT_EQ(ranges.readings[index].address, at(16));
  EXPECT_GE(ranges.readings[index].sections, 3u);  // the first found no hint, and began anew
}

TEST_F(SafeLoad, where_others_have_its_place) {
  abi::RangeControl& ranges = *ring::range_control(control());
  const uint64_t thread =
      reinterpret_cast<uint64_t>(__builtin_thread_pointer()) + static_cast<uint64_t>(__rseq_offset) + kRseqCs;
  const uint32_t index = abi::reader_index(thread);
  ranges.readers[index] = 1;
  EXPECT_EQ(load(at(8)).word, 22u);
  EXPECT_EQ(ranges.readings[index].address, 0u);
  EXPECT_EQ(ranges.readings[(index + 1) % abi::kMaxReaders].address, at(8));
  std::fill(std::begin(ranges.readers), std::end(ranges.readers), 1);
  expect_nothing_at(at(8));
}

// The child of a fork is known by what its parent's thread is known by.
TEST_F(SafeLoad, not_in_a_process_whose_memory_is_another) {
  EXPECT_EQ(load(at(8)).word, 22u);
  const abi::RangeControl& ranges = *ring::range_control(control());
  const std::vector<abi::Reading> before(std::begin(ranges.readings), std::end(ranges.readings));
  region_.gate()->own_ranges = 0;
  expect_nothing_at(at(0));
  EXPECT_EQ(std::memcmp(before.data(), ranges.readings, sizeof ranges.readings), 0);
}

TEST_F(SafeLoad, not_in_a_thread_without_restartable_sequences) {
  std::thread([&] {
    EXPECT_EQ(load(at(8)).word, 22u);
    auto* cpu =
        reinterpret_cast<volatile int32_t*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset) +
        kRseqCpuId / 4;
    *cpu = RSEQ_CPU_ID_UNINITIALIZED;
    const bool was_there = load(at(8)).is_there != 0;
    EXPECT_TRUE(!was_there || *cpu != RSEQ_CPU_ID_UNINITIALIZED);  // the kernel may have written it again
  }).join();
}

TEST_F(SafeLoad, what_was_cut) {
  EXPECT_EQ(load(at(24)).word, 44u);
  ASSERT_TRUE(ring::begin_unmap(control(), at(24), at(32)));
  expect_nothing_at(at(24));
  ring::end_unmap(control());
}

TEST_F(SafeLoad, not_while_a_child_may_run_on_the_threads_memory) {
  region_.gate()->gate = abi::kGateOpen | abi::kGateChild;
  expect_nothing_at(at(0));
}

class UnmapPad : public JitRanges {
 protected:
  static constexpr uint64_t kSite = 16, kPad = 256;

  // Makes `mov r10, rcx; mov eax, number; syscall; ret`, with the pad in place of the call.
  void make(uint32_t number) {
    CodeBuffer code(place());
    auto& a = code.assembler();
    a.mov(r10, rcx);
    a.jmp((place() + kSite).value);
    put(0, code.finish().value());
    TargetAddr runtime(reinterpret_cast<uint64_t>(blob_.data()));
    put(kPad, build_unmap_pad(place() + kPad, place() + kSite, number, runtime, env_).value());
    CodeBuffer site(place() + kSite);
    site.assembler().jmp((place() + kPad).value);
    put(kSite, site.finish().value());
    put(kSite + kSyscallSiteSize, {0xc3});
  }
  // Not a function call for the compiler: it keeps what system calls keep.
  long call(uint64_t a, uint64_t b, uint64_t c = 0, uint64_t d = 0, uint64_t e = ~uint64_t{0}, uint64_t f = 0,
            uint64_t number = 0) {
    const Kept before{a, b, c, e, f};
    Kept after = before;
    register uint64_t r8 asm("r8") = after.e;
    register uint64_t r9 asm("r9") = after.f;
    uint64_t rcx = d, rax = number;
    asm volatile("lea -256(%%rsp), %%rsp; mov %%r9, (%%rsp); call *%[code]; lea 256(%%rsp), %%rsp"
                 : "+a"(rax), "+D"(after.a), "+S"(after.b), "+d"(after.c), "+c"(rcx), "+r"(r8), "+r"(r9)
                 : [code] "b"(code_.data())
                 : "r10", "r11", "memory", "cc");
    after.e = r8;
    after.f = r9;
    EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
    return static_cast<long>(rax);
  }
  uint64_t generation() const { return ring::range_control(control())->word >> 32; }
  uint64_t pending() const { return ring::range_control(control())->pending; }

  struct Kept {
    uint64_t a, b, c, e, f;
  };
};

uint64_t number_of(const Mapping& mapping) { return reinterpret_cast<uint64_t>(mapping.data()); }

TEST_F(UnmapPad, unmaps_announces_and_ends) {
  Mapping memory = *Mapping::create(2 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  publish(memory.data(), 2 * kPage);
  make(SYS_munmap);
  EXPECT_EQ(call(number_of(memory) + kPage, kPage), 0);
  EXPECT_EQ(::madvise(memory.data() + kPage, kPage, MADV_WILLNEED), -1);
  EXPECT_TRUE(ring::find_range(control(), number_of(memory), 0));
  EXPECT_FALSE(ring::find_range(control(), number_of(memory) + kPage, 0));
  EXPECT_EQ(generation(), 1u);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(UnmapPad, hands_on_what_the_kernel_says) {
  make(SYS_munmap);
  EXPECT_EQ(call(1, kPage), -EINVAL);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(UnmapPad, passes_all_six_arguments) {
  make(SYS_mmap);
  const long at = call(0, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
  ASSERT_GT(at, 0);
  EXPECT_EQ(generation(), 0u);  // nothing can be lost by it
  const long same =
      call(static_cast<uint64_t>(at), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
  EXPECT_EQ(same, at);
  EXPECT_EQ(generation(), 1u);
  EXPECT_EQ(pending(), 0u);
  ::munmap(reinterpret_cast<void*>(at), kPage);
}

TEST_F(UnmapPad, for_whatever_number_is_in_rax) {
  Mapping memory = *Mapping::create(kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  make(kAnyNumber);
  EXPECT_EQ(call(0, 0, 0, 0, 0, 0x1234, SYS_getppid), ::getppid());
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(call(number_of(memory), kPage, PROT_NONE, 0, 0, 0x1234, SYS_mprotect), 0);
  EXPECT_EQ(generation(), 1u);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(UnmapPad, of_another_process_just_calls) {
  Mapping memory = *Mapping::create(kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  publish(memory.data(), kPage);
  region_.gate()->own_ranges = 0;
  make(SYS_mprotect);
  EXPECT_EQ(call(number_of(memory), kPage, PROT_NONE), 0);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(pending(), 0u);
}

TEST(UnmapNumbers, are_those_that_can_take_memory_away) {
  for (uint32_t number : {uint32_t{SYS_munmap}, uint32_t{SYS_brk}, uint32_t{SYS_seccomp}, kAnyNumber})
    EXPECT_TRUE(may_unmap(number)) << number;
  for (uint32_t number : {SYS_read, SYS_clone, SYS_shmdt}) EXPECT_FALSE(may_unmap(number)) << number;
}

}  // namespace
}  // namespace blip::jit
