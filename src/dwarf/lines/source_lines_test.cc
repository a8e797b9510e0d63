// SPDX-License-Identifier: MIT
#include "dwarf/lines/source_lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <vector>

#include "base/fd.h"
#include "base/mapping.h"

// A known address on a known line.
[[gnu::noinline]] int the_line_below() { return __LINE__; }
constexpr int kLine = __LINE__ - 1;

namespace blip::dwarf {
namespace {

using testing::EndsWith;

std::vector<uint8_t> own_image() {
  const Fd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  std::vector<uint8_t> bytes(static_cast<size_t>(::lseek(fd.get(), 0, SEEK_END)));
  EXPECT_EQ(::pread(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

FileAddr file_address(const void* code) {
  uint64_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the executable comes first
      },
      &bias);
  return FileAddr(reinterpret_cast<uint64_t>(code) - bias);
}

TEST(SourceLines, the_line_of_a_function) {
  const auto image = own_image();
  const auto lines = SourceLines::open(image);
  ASSERT_TRUE(lines) << lines.error().message();
  const auto found = lines->find(file_address(reinterpret_cast<const void*>(&the_line_below)));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->file, EndsWith("/dwarf/lines/source_lines_test.cc"));
  EXPECT_EQ(found->line, static_cast<uint32_t>(kLine));
  EXPECT_EQ(the_line_below(), kLine);
}

TEST(SourceLines, an_address_that_is_no_code) {
  const auto image = own_image();
  const auto lines = SourceLines::open(image);
  ASSERT_TRUE(lines);
  EXPECT_FALSE(lines->find(FileAddr(0)));
  EXPECT_FALSE(lines->find(FileAddr(UINT64_MAX)));
}

TEST(SourceLines, what_has_no_line_tables) {
  const std::vector<uint8_t> text(100, 'x');
  EXPECT_FALSE(SourceLines::open(text));
  EXPECT_FALSE(SourceLines::open({}));
}

// Nothing is read outside of the image, whatever the sections hold. Run this under a sanitizer to be sure.
TEST(SourceLines, a_damaged_file_does_no_harm) {
  const auto image = own_image();
  const FileAddr code = file_address(reinterpret_cast<const void*>(&the_line_below));
  for (size_t step : {997U, 9973U, 99991U}) {
    auto damaged = image;
    for (size_t at = 64; at < damaged.size(); at += step) damaged[at] = static_cast<uint8_t>(at);
    if (const auto lines = SourceLines::open(damaged)) (void)lines->find(code);
  }
  for (size_t size : {image.size() / 2, image.size() / 3, size_t{64}})
    if (const auto lines = SourceLines::open(std::span(image).first(size))) (void)lines->find(code);
}

}  // namespace
}  // namespace blip::dwarf
