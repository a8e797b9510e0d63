// SPDX-License-Identifier: MIT
#include "session/symbolize/unwind_tables.h"

#include <gtest/gtest.h>

#include "base/mapping.h"
#include "unwind/stacks.h"

namespace blip::session {
namespace {

constexpr uint64_t kMost = 100'000;

uint64_t frames_of(const probe::Module& module) { return module.file().find_section(".eh_frame")->size; }

// This test has more unwind information than may be read, the shell has less.
TEST(UnwindTables, large_files_are_left_while_somebody_waits) {
  const std::vector<probe::Module> large{*probe::Module::of_file("/proc/self/exe")};
  const std::vector<probe::Module> small{*probe::Module::of_file("/bin/sh")};
  ASSERT_GT(frames_of(large[0]), kMost);
  ASSERT_LT(frames_of(small[0]), kMost);
  UnwindTables tables({}, {});
  const auto arena =
      Mapping::create(tables.room(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto stacks = Mapping::create(UnwindTables::kStacks.bytes(), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(arena && stacks);
  ASSERT_TRUE(tables.fill({arena->bytes(), TargetAddr(0x10000), stacks->bytes(), {}}));
  ASSERT_TRUE(tables.update(small, {}, kMost));
  EXPECT_FALSE(tables.is_incomplete());
  ASSERT_TRUE(tables.update(large, {}, kMost));
  EXPECT_TRUE(tables.is_incomplete());
  ASSERT_TRUE(tables.update(large, {}, UnwindTables::kNextFile));
  EXPECT_FALSE(tables.is_incomplete());
  ASSERT_TRUE(tables.update(large, {}, kMost)) << "they are there";
  EXPECT_FALSE(tables.is_incomplete());
}

}  // namespace
}  // namespace blip::session
