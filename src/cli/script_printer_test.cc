// SPDX-License-Identifier: MIT
#include "cli/script_printer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"

namespace blip::cli {
namespace {

TEST(ScriptPrinter, keeps_a_bounded_amount_that_nobody_reads) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd reader(ends[0]), writer(ends[1]);
  Output output(writer.get());
  ScriptPrinter printer(output);
  const std::string line(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) printer.write(line);
  EXPECT_TRUE(printer.is_full());
  ::testing::internal::CaptureStderr();
  printer.tell_left_out();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("left out: nobody read them"), std::string::npos);
}

TEST(ScriptPrinter, says_some_warnings_and_counts_the_others) {
  Output output(STDOUT_FILENO);
  ScriptPrinter printer(output);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 150; ++i) printer.warn("it failed");
  printer.tell_left_out();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("more warnings came too fast"), std::string::npos) << said;
}

}  // namespace
}  // namespace blip::cli
