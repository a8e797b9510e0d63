// SPDX-License-Identifier: MIT
#include "session/plan/line_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using test::source_line;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const std::vector<probe::Module>& modules, const ProbeRequest& line) {
  probe::InstructionStarts starts;
  const auto found = LinePoints({&line, 1}, modules, starts).of(0);
  return found ? "found" : found.error().message();
}

TEST(LinePoints, are_in_the_functions_that_the_line_is_of) {
  const test::Sample sample;
  const uint32_t line = test::line_of("line: sum");
  const ProbeRequest lines[] = {source_line("sample.cc", line),
                                source_line("sample.cc", test::line_of("return n * 3;"))};
  probe::InstructionStarts starts;
  const LinePoints points(lines, sample.modules, starts);
  const char* const functions[] = {"work", "_ZN4shop5priceEi"};
  for (size_t i = 0; i < std::size(lines); ++i) {
    const auto found = points.of(i);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_FALSE(found->empty());
    for (const ModulePoint& p : *found) {
      EXPECT_EQ(p.module, 0u);
      EXPECT_EQ(p.point.function.name, functions[i]);
    }
  }
}

TEST(LinePoints, errors_say_what_would_do) {
  const test::Sample sample;
  const std::vector<probe::Module> library{sample.modules[1]}, program{sample.modules[0]};
  EXPECT_THAT(error_of(sample.modules, source_line("sample.cc", 1)),
              HasSubstr("no code comes from that line; the nearest line that has some is"));
  EXPECT_THAT(error_of(program, source_line("simple.cc", 1)),
              HasSubstr("no source file of that name is known; nearest: sample.cc"));
  EXPECT_THAT(error_of(sample.modules, source_line("simple.cc", 1)),
              HasSubstr("without line tables: libother.so"));
  EXPECT_THAT(error_of(library, source_line("sample.cc", 1)),
              HasSubstr("libother.so has no line tables (.debug_line): compile it with -g"));
}

TEST(LinePoints, a_program_without_line_tables_is_named_first) {
  const std::vector<probe::Module> modules{
      test::module_of(test::library_image(), "/bin/bare", test::kProgramBias, true),
      test::module_of(test::program_image(), "/lib/libsample.so", test::kLibraryBias, false)};
  const std::string error = error_of(modules, source_line("simple.cc", 1));
  EXPECT_THAT(error, HasSubstr("bare has no line tables"));
  EXPECT_THAT(error, Not(HasSubstr("nearest")));
}

TEST(LinePoints, files_of_one_name_have_to_be_told_apart) {
  // Each is compiled in a directory of its own, and its path is in its line tables.
  const auto& second =
      dwarf::compiled("gcc -O2 -gdwarf-4", "int second(int n) {\n  return n * 5;\n}\n", "cc");
  const std::vector<probe::Module> modules{
      test::module_of(test::program_image(), "/bin/sample", test::kProgramBias, true),
      test::module_of(second, "/lib/libsecond.so", test::kLibraryBias, false)};
  const std::string error = error_of(modules, source_line("sample.cc", 2));
  EXPECT_THAT(error, HasSubstr("2 source files are called that: say more of the path, one of "));
  EXPECT_THAT(error, HasSubstr("/sample.cc (no code on that line)"));
}

}  // namespace
}  // namespace blip::session
