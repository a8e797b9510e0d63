// SPDX-License-Identifier: MIT
#include "base/hex.h"

#include <gmock/gmock.h>

namespace blip {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Hex, bytes_there_and_back) {
  const std::vector<uint8_t> bytes = {0x00, 0x0f, 0xa5, 0xff};
  EXPECT_EQ(to_hex(bytes), "000fa5ff");
  EXPECT_EQ(from_hex("000fa5ff"), bytes);
}

TEST(Hex, what_is_none) {
  EXPECT_THAT(from_hex(""), IsEmpty());
  EXPECT_THAT(from_hex("12zz3"), ElementsAre(0x12, 0));
}

}  // namespace
}  // namespace blip
