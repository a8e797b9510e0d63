// SPDX-License-Identifier: MIT
#include "unwind/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include "base/mapping.h"
#include "unwind/test_self.h"

// Saves rbp beside the CFA, moves rsp in odd steps, calls rdi(rsi); with CFI by hand.
asm(R"(
    .text
    .globl unwind_by_hand
    .type unwind_by_hand, @function
unwind_by_hand:
    .cfi_startproc
    sub $40, %rsp
    .cfi_adjust_cfa_offset 40
    mov %rbp, 16(%rsp)
    .cfi_rel_offset %rbp, 16
    mov $0x1234, %ebp
    mov %rdi, %rax
    mov %rsi, %rdi
    call *%rax
    mov 16(%rsp), %rbp
    .cfi_restore %rbp
    add $40, %rsp
    .cfi_adjust_cfa_offset -40
    ret
    .cfi_endproc
    .size unwind_by_hand, . - unwind_by_hand

    .globl unwind_untold
    .type unwind_untold, @function
unwind_untold:
    sub $8, %rsp
    mov %rdi, %rax
    mov %rsi, %rdi
    call *%rax
    add $8, %rsp
    ret
    .size unwind_untold, . - unwind_untold
)");
extern "C" void unwind_by_hand(void (*function)(void*), void* argument);
extern "C" void unwind_untold(void (*function)(void*), void* argument);

namespace blip::unwind {
namespace {

using abi::UnwindEnd;

// The calling convention forbids inlining and tail calls here.
[[gnu::noinline]] void call(const std::function<void()>& inner) {
  inner();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] Pair here() {
  Pair pair;
  both_ways(own_window(), pair);
  return pair;
}

void expect_whole(const Pair& pair) {
  EXPECT_EQ(pair.ours.end, UnwindEnd::kOutermost) << why_cut(pair.ours.end);
  EXPECT_EQ(pair.ours.frames.from(1), pair.theirs.from(1));
  EXPECT_GT(pair.ours.frames.count, 5u);
}

TEST(Walk, of_this_test) { expect_whole(here()); }

TEST(Walk, of_a_thread) {
  Pair pair;
  std::thread([&] { call([&] { pair = here(); }); }).join();
  EXPECT_EQ(pair.ours.end, UnwindEnd::kOutermost) << why_cut(pair.ours.end);
  EXPECT_TRUE(pair.agree());
}

[[gnu::noinline]] void deeper(int levels, const std::function<void()>& at_the_end) {
  volatile char room[64];
  auto* more = static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(levels) * 24 + 8));
  room[levels % 64] = 1;
  more[0] = 1;
  if (levels == 0)
    call(at_the_end);
  else
    deeper(levels - 1, at_the_end);
  more[0] = room[0];
}

TEST(Walk, deep_with_frames_of_changing_size) {
  Pair pair;
  deeper(100, [&] { pair = here(); });
  expect_whole(pair);
  EXPECT_GT(pair.ours.frames.count, 100u);
}

// gcc keeps the CFA of such a function in memory.
[[gnu::noinline]] void aligned(int size, const std::function<void()>& inner) {
  alignas(128) volatile char room[128];
  auto* more = static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(size)));
  room[0] = 1;
  more[0] = 1;
  call(inner);
  more[0] = room[0];
}

TEST(Walk, through_an_aligned_stack) {
  Pair pair;
  aligned(100, [&] { aligned(50, [&] { pair = here(); }); });
  expect_whole(pair);
}

TEST(Walk, through_assembly_with_unwind_information) {
  Pair pair;
  unwind_by_hand([](void* out) { *static_cast<Pair*>(out) = here(); }, &pair);
  expect_whole(pair);
}

TEST(Walk, through_libc) {
  static Pair pair;
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof(int), [](const void* a, const void* b) {
    pair = here();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  expect_whole(pair);
}

TEST(Walk, ends_where_nothing_is_told) {
  Pair pair;
  unwind_untold([](void* out) { *static_cast<Pair*>(out) = here(); }, &pair);
  EXPECT_EQ(pair.ours.end, UnwindEnd::kNoRule);
  const auto last = pair.ours.frames.last() - reinterpret_cast<uint64_t>(&unwind_untold);
  EXPECT_LT(last, 32u);
}

TEST(Walk, ends_in_code_of_no_file) {
  auto page = Mapping::create(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(page);
  std::memcpy(page->data(), reinterpret_cast<const void*>(&unwind_untold), 32);
  ASSERT_EQ(::mprotect(page->data(), 4096, PROT_READ | PROT_EXEC), 0);
  Pair pair;
  reinterpret_cast<decltype(&unwind_untold)>(page->data())(
      [](void* out) { *static_cast<Pair*>(out) = here(); }, &pair);
  EXPECT_EQ(pair.ours.end, UnwindEnd::kNoModule);
  EXPECT_EQ(pair.ours.frames.last() & ~uint64_t{4095}, reinterpret_cast<uint64_t>(page->data()));
}

TEST(Walk, ends_at_the_depth_asked_for) {
  BLIP_OWN_REGISTERS(registers);
  const Walked all = walk_from(registers, own_window());
  for (uint32_t depth = 1; depth < all.frames.count; ++depth) {
    const Walked walked = walk_from(registers, own_window(), depth);
    EXPECT_EQ(walked.end, UnwindEnd::kDepth);
    EXPECT_EQ(walked.frames.from(0), std::vector(all.frames.at, all.frames.at + depth));
  }
  EXPECT_EQ(walk_from(registers, own_window(), static_cast<uint32_t>(all.frames.count)).end,
            UnwindEnd::kOutermost);
}

TEST(Walk, reads_nothing_outside_of_the_window) {
  BLIP_OWN_REGISTERS(registers);
  const Walked all = walk_from(registers, own_window());
  size_t longest = 0;
  for (uint64_t size = 0; size < (64 << 10); size += 8) {
    const Walked walked = walk_from(registers, StackWindow{registers.rsp, registers.rsp + size});
    ASSERT_LE(walked.frames.count, all.frames.count);
    EXPECT_GE(walked.frames.count, longest);
    EXPECT_TRUE(walked.frames.count == all.frames.count || walked.end == UnwindEnd::kUnreadable);
    longest = walked.frames.count;
  }
  EXPECT_GT(longest, 3u);
  const uint64_t top = UINT64_MAX;
  EXPECT_EQ(walk_from(registers, StackWindow{0, 0}).end, UnwindEnd::kUnreadable);
  registers.rsp = registers.rbp = top - 8;  // whichever the caller is found by, it is beyond the end
  EXPECT_EQ(walk_from(registers, StackWindow{top - 64, top}).frames.count, 1u);
}

// The first instruction of a function: its caller is at [rsp], whatever the tables say.
TEST(Walk, from_an_entry) {
  uint64_t stack[4] = {0x1234, 0, 0, 0};
  const Registers registers{.rip = reinterpret_cast<uint64_t>(&unwind_untold) + 4,
                            .rsp = reinterpret_cast<uint64_t>(stack),
                            .rbp = 0};
  const StackWindow window{registers.rsp, registers.rsp + sizeof(stack)};
  const Walked walked = walk_from(registers, window, abi::kMaxStackDepth, true);
  EXPECT_THAT(walked.frames.from(0), testing::ElementsAre(registers.rip, 0x1234));
  EXPECT_EQ(walked.end, UnwindEnd::kNoModule);
  EXPECT_THAT(walk_from(registers, window).frames.from(0), testing::ElementsAre(registers.rip));
}

TEST(Walk, a_frame_below_its_caller_ends_it) {
  uint64_t stack[4] = {};
  Registers registers{.rip = 0, .rsp = reinterpret_cast<uint64_t>(stack + 2), .rbp = 0};
  const StackWindow window{registers.rsp - 16, registers.rsp + 16};
  registers.rbp = registers.rsp - 16;
  const abi::UnwindRule rule = {.cfa_offset = 16, .base = abi::UnwindRule::kRbp};
  EXPECT_EQ(step_up(rule, registers, window), UnwindEnd::kNotGrowing);
}

TEST(Walk, rbp_that_is_lost_is_not_used) {
  uint64_t stack[4] = {0x1111, 0x2222, 0x3333, 0x4444};
  Registers registers{.rip = 0, .rsp = reinterpret_cast<uint64_t>(stack), .rbp = 0};
  const StackWindow window{registers.rsp, registers.rsp + sizeof(stack)};
  EXPECT_EQ(step_up({.cfa_offset = 8, .base = abi::UnwindRule::kRsp, .rbp = abi::UnwindRule::kLost},
                    registers, window),
            kGoesOn);
  EXPECT_EQ(step_up({.cfa_offset = 16, .base = abi::UnwindRule::kRbp}, registers, window),
            UnwindEnd::kUnsupported);
}

TEST(Walk, pads_end_it_with_their_own_reason) {
  TestTables tables(1 << 22);
  tables.add({uniform_table(0x1000, abi::UnwindRule::kPads)}, 0x10000);
  const Registers registers{.rip = 0x10800, .rsp = 0, .rbp = 0};
  EXPECT_EQ(walk(tables.header(), registers, false, 8, StackWindow{0, 0}, [](uint64_t) {}), UnwindEnd::kPads);
}

TEST(Arena, modules_come_and_go) {
  TestTables tables(1 << 22);
  const auto in = [&](uint64_t address) { return RuleFinder(tables.header()).find(address) != nullptr; };
  EXPECT_FALSE(in(0x10000));
  for (uint64_t i = 0; i < 20; ++i) {
    tables.add({uniform_table(0x1000, abi::UnwindRule::kRsp)}, 0x10000 + (i * 7 % 20) * 0x2000);
    for (uint64_t j = 0; j < 20; ++j) {
      const bool is_there = std::any_of(tables.segments.begin(), tables.segments.end(),
                                        [&](const auto& s) { return s.bias == 0x10000 + j * 0x2000; });
      EXPECT_EQ(in(0x10000 + j * 0x2000), is_there);
      EXPECT_EQ(in(0x10fff + j * 0x2000), is_there);
      EXPECT_FALSE(in(0x11000 + j * 0x2000));
      EXPECT_FALSE(in(0xffff));
    }
  }
  ASSERT_TRUE(tables.arena->publish({}));
  EXPECT_FALSE(in(0x10000));
}

// Addresses that hash to the same entry, modules that change under what was looked up before.
TEST(RuleCache, tells_the_same_as_the_tables) {
  std::vector<uint64_t> cache(abi::kCachedRules);
  TestTables tables(1 << 22);
  const auto base_at = [&](uint64_t address) {
    const abi::UnwindRule* rule = RuleFinder(tables.header()).find(address);
    return rule == nullptr ? -1 : rule->base;
  };
  tables.arena->header().cache_addr = reinterpret_cast<uint64_t>(cache.data());
  tables.add({uniform_table(0x800000, abi::UnwindRule::kRsp)}, 0x7f0000000000);
  tables.add({uniform_table(0x800000, abi::UnwindRule::kRbp)}, 0x7f1000000000);
  std::mt19937_64 random(std::random_device{}());
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t offset = random() % 64 * 0x1001 + random() % 2;
    ASSERT_EQ(base_at(0x7f0000000000 + offset), abi::UnwindRule::kRsp);
    ASSERT_EQ(base_at(0x7f1000000000 + offset), abi::UnwindRule::kRbp);
    ASSERT_EQ(base_at(0x7f2000000000 + offset), -1);
  }
  std::swap(tables.segments[0].bias, tables.segments[1].bias);
  ASSERT_TRUE(tables.arena->publish(tables.segments));
  EXPECT_EQ(base_at(0x7f0000000000), abi::UnwindRule::kRbp);
  EXPECT_EQ(base_at(0x7f1000000000), abi::UnwindRule::kRsp);
}

TEST(Arena, is_full) {
  TestTables tables(TableArena::kMinimum + 4096);
  EXPECT_FALSE(tables.arena->add(uniform_table(1 << 20, abi::UnwindRule::kRsp)));
  while (tables.arena->publish({})) {
  }
  EXPECT_EQ(RuleFinder(tables.header()).find(0), nullptr);
}

}  // namespace
}  // namespace blip::unwind
