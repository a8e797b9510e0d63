// SPDX-License-Identifier: MIT
#include "session/plan/memory_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using testing::HasSubstr;

constexpr size_t kProgram = 0, kLibrary = 1, kNowhere = 9;

uint64_t in_program(std::string_view name) {
  return test::kProgramBias + dwarf::address_of(test::program_image(), name).value;
}
uint64_t in_library(std::string_view name) {
  return test::kLibraryBias + dwarf::address_of(test::library_image(), name).value;
}

TEST(MemoryAddress, numbers_and_symbols) {
  const test::Sample sample;
  const struct {
    std::string_view text;
    size_t home;
    uint64_t expected;
  } cases[] = {
      {"0x10", kProgram, 16},
      {"0X1f", kProgram, 31},
      {"010", kProgram, 8},
      {"16", kProgram, 16},
      {"0", kProgram, 0},
      {"global_number", kProgram, in_program("global_number")},
      {"global_number+4", kProgram, in_program("global_number") + 4},
      {"work", kProgram, in_program("work")},
      {"work", kLibrary, in_library("work")},
      {"work", kNowhere, in_program("work")},
      {"other_number", kProgram, in_library("other_number")},
      {"shared_number", kProgram, in_program("shared_number")},
      {"shared_number", kLibrary, in_library("shared_number")},
      {"libother.so:shared_number", kProgram, in_library("shared_number")},
      {"sample:shared_number", kLibrary, in_program("shared_number")},
  };
  for (const auto& c : cases) {
    const auto found = memory_address(c.text, sample.modules, c.home);
    ASSERT_TRUE(found) << c.text << ": " << found.error().message();
    EXPECT_EQ(*found, c.expected) << c.text << " at home in " << c.home;
  }
}

TEST(MemoryAddress, what_is_none) {
  const test::Sample sample;
  const std::pair<std::string_view, const char*> cases[] = {
      {"0x", "is no address"},
      {"08", "is no address"},
      {"12abc", "is no address"},
      {"0x1ffffffffffffffff", "is no address"},
      {"global_*", "not a pattern"},
      {"no_such", "no variable or function is named no_such"},
      {"libother.so:global_number", "named global_number in libother.so"},
      {"", ""},
  };
  for (const auto& [text, expected] : cases) {
    const auto found = memory_address(text, sample.modules, kProgram);
    ASSERT_FALSE(found) << text;
    EXPECT_THAT(found.error().message(), HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace blip::session
