// SPDX-License-Identifier: MIT
#include "x86/flow/syscall_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);

TEST(SyscallSites, finds_the_three_calls) {
  auto text = test::bytes(
      "90 b8 38 00 00 00 0f 05 85 c0 c3 "           // clone; test
      "b8 3a 00 00 00 0f 05 57 3d 01 f0 ff ff c3 "  // vfork; push rdi; cmp
      "b8 b3 01 00 00 0f 05 74 00 c3 "              // clone3; je
      "b8 27 00 00 00 0f 05 c3 0f 05");             // getpid; a syscall without a number
  auto sites = find_clone_sites(text, kBase);
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[0].addr, kBase + 1);
  EXPECT_EQ(sites[0].number, kCloneNumber);
  EXPECT_TRUE(sites[0].flags_dead_after);
  EXPECT_EQ(sites[1].addr, kBase + 11);
  EXPECT_EQ(sites[1].number, kVforkNumber);
  EXPECT_TRUE(sites[1].flags_dead_after);
  EXPECT_EQ(sites[2].addr, kBase + 25);
  EXPECT_EQ(sites[2].number, kClone3Number);
  EXPECT_FALSE(sites[2].flags_dead_after);
}

TEST(SyscallSites, finds_one_other_call) {
  auto text =
      test::bytes("41 ba 08 00 00 00 b8 0d 00 00 00 0f 05 48 3d 00 f0 ff ff c3 b8 38 00 00 00 0f 05 c3");
  auto sites = find_syscall_sites(text, kBase, 13);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].addr, kBase + 6);
  EXPECT_TRUE(sites[0].flags_dead_after);
}

TEST(SyscallSites, several_numbers_and_all_bytes_of_calls) {
  auto text = test::bytes("b8 0b 00 00 00 0f 05 b8 0a 00 00 00 0f 05 b8 0f 05 0f 05 b8 09 00 00 00 0f 05 0f");
  const uint32_t numbers[] = {9, 11};
  const auto site = syscall_site_at(text, kBase, kBase + 5, numbers);
  ASSERT_TRUE(site);
  EXPECT_EQ(site->addr, kBase);
  EXPECT_EQ(site->number, 11u);
  EXPECT_EQ(syscall_site_at(text, kBase, kBase + 24, numbers).value().number, 9u);
  EXPECT_FALSE(syscall_site_at(text, kBase, kBase + 12, numbers));
  EXPECT_FALSE(syscall_site_at(text, kBase, kBase + 15, numbers));
  const std::vector<TargetAddr> all = {kBase + 5, kBase + 12, kBase + 15, kBase + 17, kBase + 24};
  EXPECT_EQ(find_syscall_bytes(text, kBase), all);
  EXPECT_TRUE(find_syscall_bytes({}, kBase).empty());
}

TEST(SyscallSites, at_every_offset) {
  for (size_t at = 0; at + 2 <= 70; ++at) {
    std::vector<uint8_t> text(70, 0x90);
    text[at] = 0x0f;
    text[at + 1] = 0x05;
    EXPECT_EQ(find_syscall_bytes(text, kBase), std::vector{kBase + at});
    if (at < 5) continue;
    text[at - 5] = 0xb8;
    text[at - 4] = kForkNumber;
    std::fill_n(&text[at - 3], 3, uint8_t{0});
    ASSERT_EQ(find_clone_sites(text, kBase).size(), 1u) << at;
    EXPECT_EQ(find_clone_sites(text, kBase)[0].addr, kBase + at - 5);
  }
}

// Each is found once, also where two pieces meet.
TEST(SyscallSites, around_every_megabyte) {
  const auto call = test::bytes("b8 38 00 00 00 0f 05");
  for (size_t at = (1 << 20) - 10; at < (1 << 20) + 3; ++at) {
    std::vector<uint8_t> text((2 << 20) + 5, 0x90);
    std::copy(call.begin(), call.end(), text.begin() + static_cast<ptrdiff_t>(at));
    size_t pieces = 0;
    const auto sites = find_clone_sites(text, kBase, [&] { ++pieces; });
    ASSERT_EQ(sites.size(), 1u) << at;
    EXPECT_EQ(sites[0].addr, kBase + at);
    EXPECT_EQ(pieces, 3u);
  }
}

TEST(SyscallSites, short_text) {
  auto text = test::bytes("0f 05");
  EXPECT_TRUE(find_clone_sites(text, kBase).empty());
  EXPECT_TRUE(find_clone_sites({}, kBase).empty());
}

}  // namespace
}  // namespace blip::x86
