// SPDX-License-Identifier: MIT
#include "x86/flags.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);

bool live(std::string_view hex) {
  auto code = test::bytes(hex);
  return flags_live(code, kBase, kBase);
}

TEST(Flags, dead_when_all_are_written_first) {
  EXPECT_FALSE(live("85 ff 74 00 c3"));        // test edi, edi; je; ret
  EXPECT_FALSE(live("48 89 f8 31 d2 11 c0"));  // mov; xor; adc
}

TEST(Flags, live_when_one_is_read_first) {
  EXPECT_TRUE(live("74 00 c3"));        // je
  EXPECT_TRUE(live("ff c7 11 c0 c3"));  // inc leaves CF; adc reads it
  EXPECT_TRUE(live("d3 e0 74 00 c3"));  // shl eax, cl may leave ZF
  EXPECT_TRUE(live("9c 58 c3"));        // pushf
}

TEST(Flags, dead_by_abi_at_call_and_return) {
  EXPECT_FALSE(live("c3"));
  EXPECT_FALSE(live("55 e8 00 00 00 00 74 00"));
  EXPECT_FALSE(live("ff e0"));
  EXPECT_FALSE(live("e9 00 10 00 00"));  // tail call
  EXPECT_FALSE(live("90 90"));           // runs out of the function
}

TEST(Flags, follows_jumps_and_both_ways_of_a_branch) {
  EXPECT_TRUE(live("eb 01 c3 74 00"));                  // jmp over ret to je
  EXPECT_TRUE(live("ff c7 74 01 c3 72 00 c3"));         // inc; je L; ret; L: jb reads the old CF
  EXPECT_FALSE(live("ff c7 74 01 c3 85 c0 72 00 c3"));  // the same with a test in between
}

TEST(Flags, live_when_in_doubt) {
  EXPECT_TRUE(live("06"));
  EXPECT_TRUE(live("eb fe"));  // no end
}

}  // namespace
}  // namespace blip::x86
