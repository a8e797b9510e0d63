// SPDX-License-Identifier: MIT
#include "unwind/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "unwind/intern.h"

namespace blip::unwind {
namespace {

using abi::UnwindEnd;
using testing::ElementsAre;

struct TestStacks {
  StackTableSize size;
  std::vector<uint64_t> memory;
  StackTableReader reader;

  explicit TestStacks(const StackTableSize& s)
      : size(s), memory(s.bytes() / 8), reader(StackTableReader::create(bytes(), s)) {}
  std::span<uint8_t> bytes() { return {reinterpret_cast<uint8_t*>(memory.data()), memory.size() * 8}; }

  uint32_t put(const std::vector<uint64_t>& frames, UnwindEnd end = UnwindEnd::kOutermost) {
    return StackInterner(bytes().data()).intern([&](FrameSum& visit) {
      for (const uint64_t frame : frames) visit(frame);
      return end;
    });
  }
  std::vector<uint64_t> get(uint32_t id) const {
    std::vector<uint64_t> frames;
    if (const auto stack = reader.find(id))
      for (const StackFrame& frame : stack->frames) frames.push_back(frame.address.value);
    return frames;
  }
};

TEST(Stacks, the_same_frames_have_the_same_id) {
  TestStacks stacks({.slots = 64, .frames = 100, .depth = 16});
  const uint32_t a = stacks.put({1, 2, 3}), b = stacks.put({1, 2, 4});
  EXPECT_NE(a, b);
  EXPECT_EQ(stacks.put({1, 2, 3}), a);
  EXPECT_EQ(stacks.put({1, 2, 4}), b);
  EXPECT_THAT(stacks.get(a), ElementsAre(1, 2, 3));
  EXPECT_THAT(stacks.get(b), ElementsAre(1, 2, 4));
  EXPECT_EQ(stacks.reader.refused(), 0u);
}

TEST(Stacks, why_a_walk_ended_is_part_of_the_stack) {
  TestStacks stacks({.slots = 64, .frames = 100, .depth = 16});
  const uint32_t whole = stacks.put({1, 2}), cut = stacks.put({1, 2}, UnwindEnd::kNoRule);
  EXPECT_NE(whole, cut);
  EXPECT_EQ(stacks.reader.find(whole)->end, UnwindEnd::kOutermost);
  EXPECT_EQ(stacks.reader.find(cut)->end, UnwindEnd::kNoRule);
}

TEST(Stacks, only_return_addresses_are_looked_up_before_themselves) {
  TestStacks stacks({.slots = 64, .frames = 100, .depth = 16});
  const auto stack = stacks.reader.find(stacks.put({0x10, 0x20, 0x30 | abi::kInterrupted, 0x40}));
  ASSERT_TRUE(stack);
  EXPECT_THAT(stack->frames,
              ElementsAre(StackFrame{TargetAddr(0x10), false}, StackFrame{TargetAddr(0x20), true},
                          StackFrame{TargetAddr(0x30), false}, StackFrame{TargetAddr(0x40), true}));
  EXPECT_EQ(stack->frames[1].code(), TargetAddr(0x1f));
  EXPECT_EQ(stack->frames[2].code(), TargetAddr(0x30));
}

TEST(Stacks, a_full_table_says_so_and_keeps_what_it_has) {
  TestStacks stacks({.slots = 64, .frames = 10, .depth = 16});
  const uint32_t kept = stacks.put({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(stacks.put({7, 8, 9, 10, 11}), abi::kNoStack);
  EXPECT_EQ(stacks.put({7, 8, 9, 10, 11}), abi::kNoStack);
  EXPECT_EQ(stacks.reader.refused(), 2u);
  const uint32_t fits = stacks.put({7, 8, 9, 10});
  EXPECT_THAT(stacks.get(fits), ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(stacks.get(kept), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(stacks.put({1, 2, 3, 4, 5, 6}), kept);
  EXPECT_FALSE(stacks.reader.find(abi::kNoStack));
}

TEST(Stacks, no_slot_is_left) {
  TestStacks stacks({.slots = 16, .frames = 1000, .depth = 16});
  uint64_t refused = 0;
  for (uint64_t i = 1; i <= 20; ++i) refused += stacks.put({i}) == abi::kNoStack;
  EXPECT_EQ(refused, 4u);
  EXPECT_EQ(stacks.reader.refused(), refused);
}

// The process that claimed the slot died before it wrote the frames: the next one with this stack writes
// them.
TEST(Stacks, a_claim_that_nobody_fills) {
  TestStacks stacks({.slots = 64, .frames = 100, .depth = 16});
  auto* slots = reinterpret_cast<abi::StackSlot*>(stacks.bytes().data() + sizeof(abi::StackTable));
  const uint32_t id = stacks.put({1, 2, 3});
  slots[id].place = 0;
  EXPECT_FALSE(stacks.reader.find(id));
  EXPECT_EQ(stacks.put({1, 2, 3}), id);
  EXPECT_THAT(stacks.get(id), ElementsAre(1, 2, 3));
}

TEST(Stacks, what_the_target_scribbles_is_not_believed) {
  TestStacks stacks({.slots = 16, .frames = 8, .depth = 4});
  auto* slots = reinterpret_cast<abi::StackSlot*>(stacks.bytes().data() + sizeof(abi::StackTable));
  std::mt19937_64 random(std::random_device{}());
  for (int i = 0; i < 10'000; ++i) {
    slots[3].place = random();
    const auto stack = stacks.reader.find(3);
    EXPECT_TRUE(!stack || stack->frames.size() <= 4);
  }
  slots[3].place = abi::make_stack_place(8, 1, UnwindEnd::kDepth);
  EXPECT_FALSE(stacks.reader.find(3));
  slots[3].place = abi::make_stack_place(7, 1, UnwindEnd::kDepth);
  EXPECT_TRUE(stacks.reader.find(3));
}

TEST(Stacks, many_threads_and_every_id_has_its_frames_at_once) {
  TestStacks stacks({.slots = 4096, .frames = 1 << 17, .depth = 16});
  std::atomic<int> wrong = 0;
  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t which = random() % 500;
      const std::vector<uint64_t> frames(1 + which % 9, which);
      const uint32_t id = stacks.put(frames);
      wrong += stacks.get(id) != frames;
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stacks.reader.refused(), 0u);
}

}  // namespace
}  // namespace blip::unwind
