// SPDX-License-Identifier: MIT
#include "ctf/long_double.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace blip::ctf {
namespace {

std::string digits(long double value) {
  uint8_t bytes[16] = {};
  std::memcpy(bytes, &value, 10);
  return std::string(LongDouble(bytes).digits());
}

TEST(LongDouble, digits) {
  constexpr long double kInfinite = std::numeric_limits<long double>::infinity();
  EXPECT_EQ(digits(-1.25L), "-1.25");
  EXPECT_EQ(digits(0.1L), "0.1");
  EXPECT_EQ(digits(0.1), "0.10000000000000000555");
  EXPECT_EQ(digits(1 + 1e-19L), "1.0000000000000000001");
  EXPECT_EQ(digits(-0.0L), "-0");
  EXPECT_EQ(digits(1e4932L), "1e+4932");
  EXPECT_EQ(digits(kInfinite), "inf");
  EXPECT_EQ(digits(-kInfinite), "-inf");
}

TEST(LongDouble, digits_mean_the_same_number) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    uint8_t bytes[10];
    const uint64_t mantissa = random() | uint64_t{1} << 63;
    auto head = static_cast<uint16_t>(random());
    if ((head & 0x7fff) == 0x7fff) head ^= 1;
    std::memcpy(bytes, &mantissa, 8);
    std::memcpy(bytes + 8, &head, 2);
    long double value = 0;
    std::memcpy(&value, bytes, 10);
    const LongDouble shown(bytes);
    ASSERT_EQ(std::strtold(std::string(shown.digits()).c_str(), nullptr), value);
    ASSERT_EQ(shown.nearest(), static_cast<double>(value));
  }
}

TEST(LongDouble, what_is_no_number) {
  const uint8_t without_highest_bit[10] = {1, 2, 3, 4, 5, 6, 7, 0x08, 0x00, 0x40};
  EXPECT_EQ(LongDouble(without_highest_bit).digits(), "nan");
  const uint8_t with_one_too_many[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0};
  EXPECT_EQ(LongDouble(with_one_too_many).digits(), "3.3621031431120935063e-4932");
}

}  // namespace
}  // namespace blip::ctf
