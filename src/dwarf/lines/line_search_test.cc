// SPDX-License-Identifier: MIT
#include "dwarf/lines/line_search.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"

namespace {

volatile int sink;

// Two copies of one line.
[[gnu::always_inline]] inline void inlined() { sink = sink + __LINE__; }
constexpr uint32_t kInlined = __LINE__ - 1;

}  // namespace

[[gnu::noinline, gnu::used]] int line_search_one(int n) {
  inlined();
  return n;
}

[[gnu::noinline, gnu::used]] int line_search_two(int n) {
  for (int i = 0; i < n; ++i) inlined();
  return sink;
}
constexpr uint32_t kBehindLast = __LINE__;

namespace blip::dwarf {
namespace {

using testing::EndsWith;

std::vector<uint8_t> own_image() {
  const Fd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  std::vector<uint8_t> bytes(static_cast<size_t>(::lseek(fd.get(), 0, SEEK_END)));
  EXPECT_EQ(::pread(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

Result<LineSearch> search_line(std::span<const uint8_t> image, std::string file, uint32_t line) {
  const SourceLine asked{std::move(file), line};
  TRY(std::vector<LineSearch> found, search_lines(image, {&asked, 1}));
  return std::move(found.front());
}

TEST(LineSearch, every_copy_of_an_inlined_line) {
  const auto image = own_image();
  for (const char* name : {"line_search_test.cc", "dwarf/lines/line_search_test.cc"}) {
    const auto found = search_line(image, name, kInlined);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->files.size(), 1u);
    EXPECT_THAT(found->files[0].path, EndsWith("/src/dwarf/lines/line_search_test.cc"));
    EXPECT_GE(found->files[0].addresses.size(), 2u);
    EXPECT_TRUE(found->names.empty());
  }
}

TEST(LineSearch, a_line_without_code_has_neighbours) {
  const auto found = search_line(own_image(), "line_search_test.cc", kBehindLast);
  ASSERT_TRUE(found && found->files.size() == 1);
  EXPECT_TRUE(found->files[0].addresses.empty());
  EXPECT_GE(found->files[0].line_before, kBehindLast - 2);  // the return, or the brace behind it
  EXPECT_LT(found->files[0].line_before, kBehindLast);
  EXPECT_GT(found->files[0].line_after, kBehindLast);
}

TEST(LineSearch, part_of_a_name_is_not_a_name) {
  const auto found = search_line(own_image(), "search_test.cc", kInlined);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->files.empty());
  EXPECT_THAT(found->names, testing::Contains(EndsWith("/src/dwarf/lines/line_search_test.cc")));
}

// Each as if it had been asked for alone.
TEST(LineSearch, many_at_once) {
  const auto image = own_image();
  std::vector<SourceLine> asked;
  for (uint32_t line = 1; line < 80; ++line) asked.push_back({"line_search_test.cc", line});
  asked.push_back({"dwarf/lines/line_search_test.cc", kInlined});
  asked.push_back({"no_such_file.cc", 1});
  const auto found = search_lines(image, asked);
  ASSERT_TRUE(found && found->size() == asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto alone = search_line(image, asked[i].file, asked[i].line);
    ASSERT_TRUE(alone && alone->files.size() == (*found)[i].files.size());
    EXPECT_EQ(alone->names, (*found)[i].names);
    if (alone->files.empty()) continue;
    EXPECT_EQ(alone->files[0].addresses, (*found)[i].files[0].addresses) << asked[i].line;
    EXPECT_EQ(alone->files[0].line_before, (*found)[i].files[0].line_before) << asked[i].line;
    EXPECT_EQ(alone->files[0].line_after, (*found)[i].files[0].line_after) << asked[i].line;
  }
}

TEST(LineSearch, what_has_no_line_tables) {
  const std::vector<uint8_t> text(100, 'x');
  EXPECT_FALSE(search_line(text, "a.c", 1));
}

TEST(LineSearch, a_damaged_file_does_no_harm) {
  const auto image = own_image();
  for (size_t step : {997U, 9973U, 99991U}) {
    auto damaged = image;
    for (size_t at = 64; at < damaged.size(); at += step) damaged[at] = static_cast<uint8_t>(at);
    (void)search_line(damaged, "line_search_test.cc", kInlined);
  }
}

}  // namespace
}  // namespace blip::dwarf
