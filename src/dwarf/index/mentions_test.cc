// SPDX-License-Identifier: MIT
#include "dwarf/index/mentions.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dwarf/index/byte_search.h"
#include "dwarf/index/identifier.h"

namespace blip::dwarf {
namespace {

TEST(Identifier, last_part_without_arguments) {
  EXPECT_EQ(identifier_in("f"), "f");
  EXPECT_EQ(identifier_in("ns::list<a::b>"), "list");
  EXPECT_EQ(identifier_in("(anonymous namespace)::A<x>::f<int>"), "f");
  EXPECT_EQ(identifier_in("A::operator<<"), "operator<<");
  EXPECT_EQ(identifier_in("my_operator"), "my_operator");
  EXPECT_EQ(identifier_in("operators::f"), "f");
  EXPECT_EQ(identifier_in(""), "");
}

// Words at every alignment, at both ends, across the pieces that threads look through, few values and many.
TEST(ByteSearch, words_wherever_they_stand) {
  constexpr size_t kPiece = 4 << 20;
  std::vector<uint8_t> bytes(2 * kPiece + 100, 0xee);
  const std::vector<uint64_t> places = {0, 5, 18, 31, kPiece - 3, kPiece + 9, bytes.size() - 4};
  const uint32_t word = 0x12345678;
  for (uint64_t at : places) std::memcpy(&bytes[at], &word, sizeof word);
  EXPECT_EQ(find_words(bytes, {word}), places);
  EXPECT_EQ(find_words(bytes, {1, word, 2, 3, 4, 5, 0x99995678}), places);
  EXPECT_TRUE(find_words(bytes, {0x12345679}).empty());
  EXPECT_TRUE(find_words(bytes, {}).empty());
  EXPECT_TRUE(find_words(std::span(bytes).first(3), {word}).empty());
  EXPECT_EQ(find_words(std::span(bytes).first(4), {word}), std::vector<uint64_t>{0});
}

TEST(ByteSearch, texts_wherever_they_stand) {
  constexpr size_t kPiece = 4 << 20;
  std::vector<uint8_t> bytes(kPiece + 50, 'x');
  const std::vector<uint64_t> places = {0, 7, kPiece - 2, bytes.size() - 4};
  for (uint64_t at : places) std::memcpy(&bytes[at], "abcd", 4);
  EXPECT_EQ(find_text(bytes, "abcd"), places);
  EXPECT_TRUE(find_text(bytes, "abce").empty());
  EXPECT_TRUE(find_text(std::span(bytes).first(3), "abcd").empty());
}

}  // namespace
}  // namespace blip::dwarf
