// SPDX-License-Identifier: MIT
#include "session/plan/trampoline_room.h"

#include <gtest/gtest.h>

namespace blip::session {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

proc::Map map_of(uint64_t begin, uint64_t size, bool exec = true, uint64_t inode = 1) {
  return {.range = {TargetAddr(begin), TargetAddr(begin + size)}, .read = true, .exec = exec, .inode = inode};
}

// How many MiB between two addresses trampolines may not be put into.
uint64_t closed(const x86::TrampolineSpace& space, uint64_t begin, uint64_t end) {
  constexpr uint64_t kStep = kMiB / 16;
  uint64_t count = 0;
  for (uint64_t at = begin; at < end; at += kStep)
    count += !space.find({TargetAddr(at), TargetAddr(at + kStep)});
  return count * kStep / kMiB;
}
uint64_t closed(const x86::TrampolineSpace& space, uint64_t code) {
  return closed(space, code - 2 * kGiB, code + 2 * kGiB);
}

constexpr uint64_t kCode = 0x5555'5540'0000;

TEST(TrampolineRoom, pads_keep_a_stretch_in_reach_of_the_code) {
  const std::vector<proc::Map> maps{map_of(kCode, kMiB)};
  const struct {
    size_t probes;
    bool counting;
    uint64_t expected;
  } cases[] = {{0, false, 16}, {1000, false, 16}, {100'000, false, 97}, {100'000, true, 36}};
  for (const auto& c : cases) {
    const uint64_t found = closed(room_for_trampolines(maps, c.probes, c.counting), kCode);
    EXPECT_GE(found, c.expected) << c.probes;
    EXPECT_LE(found, c.expected + 3) << c.probes;  // the code itself too
  }
}

TEST(TrampolineRoom, only_code_of_files_needs_pads) {
  for (const proc::Map& map : {map_of(kCode, kMiB, false), map_of(kCode, kMiB, true, 0)})
    EXPECT_LE(closed(room_for_trampolines({&map, 1}, 0, true), kCode), 2u);
}

// Few puns lead to some stretches below the code: pads lie there if they can, else where they find room.
TEST(TrampolineRoom, pads_lie_where_few_puns_lead) {
  const auto taken = [](std::vector<proc::Map> maps, uint64_t begin, uint64_t end) {
    return closed(room_for_trampolines(maps, 0, true), begin, end);
  };
  constexpr uint64_t kFarthest = kCode - (0x6f << 24), kRare = kCode - (0x58 << 24),
                     kSome = kCode - (0x48 << 24);
  EXPECT_GE(taken({map_of(kCode, kMiB)}, kFarthest, kRare), 15u);
  const proc::Map in_the_way = map_of(kFarthest - 64 * kMiB, kRare - kFarthest + 64 * kMiB, false);
  EXPECT_GE(taken({in_the_way, map_of(kCode, kMiB)}, kRare, kSome), 15u);
  const proc::Map more = map_of(kFarthest - 64 * kMiB, kSome - kFarthest + 64 * kMiB, false);
  EXPECT_GE(taken({more, map_of(kCode, kMiB)}, kSome, kCode + 2 * kGiB), 15u);
}

TEST(TrampolineRoom, low_code_has_nothing_far_below_it) {
  constexpr uint64_t kLow = 0x40'0000;
  const proc::Map map = map_of(kLow, kMiB);
  EXPECT_GE(closed(room_for_trampolines({&map, 1}, 0, true), kLow + kMiB, kLow + 2 * kGiB), 15u);
}

TEST(TrampolineRoom, a_process_keeps_most_of_the_mappings_it_may_have) {
  std::vector<proc::Map> maps;
  for (size_t i = 0; i < proc::max_map_count(); ++i)
    maps.push_back(map_of(0x1000'0000 + i * 0x2000, 0x1000, false));
  const x86::TrampolineSpace space = room_for_trampolines(maps, 0, true);
  EXPECT_FALSE(space.find({TargetAddr(kCode), TargetAddr(kCode + kMiB)}));
}

}  // namespace
}  // namespace blip::session
