// SPDX-License-Identifier: MIT
#include "cli/output/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace blip::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

const progress::Clock::time_point kBegin = progress::Clock::time_point() + std::chrono::hours(1);

progress::Current step(const std::string& doing) { return {doing, kBegin}; }

TEST(ProgressText, says_nothing_before_the_threshold) {
  for (size_t width : {0, 80}) {
    ProgressText text(milliseconds(500), width);
    EXPECT_EQ(text.update(step("reading"), kBegin), "");
    EXPECT_EQ(text.update(step("reading"), kBegin + milliseconds(499)), "");
    EXPECT_EQ(text.next_look(step("reading"), kBegin), kBegin + milliseconds(500));
    EXPECT_EQ(text.hide(), "");
  }
}

TEST(ProgressText, lines_that_stay_get_rarer) {
  ProgressText text(milliseconds(500), 0);
  std::vector<int> told;
  for (int ms = 0; ms < 20'000; ms += 100)
    if (!text.update(step("reading the symbols of x"), kBegin + milliseconds(ms)).empty()) told.push_back(ms);
  EXPECT_THAT(told, testing::ElementsAre(500, 1500, 3500, 7500, 15500));
}

TEST(ProgressText, a_line_that_stays) {
  ProgressText text(milliseconds(500), 0);
  EXPECT_EQ(text.update(step("reading \x1b[2J"), kBegin + milliseconds(1200)),
            "blip: still reading \\x1b[2J (1.2 s)\n");
  EXPECT_EQ(text.hide(), "");
}

TEST(ProgressText, the_next_wait_is_told_from_the_start) {
  ProgressText text(milliseconds(500), 0);
  EXPECT_NE(text.update(step("a"), kBegin + seconds(60)), "");
  const progress::Current later{"b", kBegin + seconds(61)};
  EXPECT_EQ(text.update(later, later.since + milliseconds(400)), "");
  EXPECT_EQ(text.update(later, later.since + milliseconds(500)), "blip: still b (0.5 s)\n");
}

TEST(ProgressText, a_terminal_has_one_line_and_it_vanishes) {
  ProgressText text(milliseconds(500), 80);
  EXPECT_EQ(text.update(step("reading"), kBegin + milliseconds(500)), "\r\x1b[Kblip: still reading (0.5 s)");
  EXPECT_EQ(text.update(step("planning"), kBegin + milliseconds(700)),
            "\r\x1b[Kblip: still planning (0.7 s)");
  EXPECT_EQ(text.hide(), "\r\x1b[K");
  EXPECT_EQ(text.hide(), "");
}

TEST(ProgressText, a_line_never_wraps_nor_cuts_a_character) {
  ProgressText text(milliseconds(500), 20);
  const std::string shown = text.update(step("reading caf\xc3\xa9"), kBegin + seconds(1));
  EXPECT_EQ(shown, "\r\x1b[Kblip: still reading");
  ProgressText narrow(milliseconds(500), 18);
  EXPECT_EQ(narrow.update(step("wai\xc3\xa9ting"), kBegin + seconds(1)), "\r\x1b[Kblip: still wai\xc3\xa9");
  ProgressText between(milliseconds(500), 17);
  EXPECT_EQ(between.update(step("wai\xc3\xa9ting"), kBegin + seconds(1)), "\r\x1b[Kblip: still wai");
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int in() const { return ends_[1]; }
  std::string read_line() const {
    std::string line;
    for (char c = 0; c != '\n' && ::read(ends_[0], &c, 1) == 1;) line += c;
    return line;
  }

 private:
  int ends_[2];
};

// The step lasts until its line has been read: no clock decides.
TEST(ProgressReporter, shows_a_step_that_lasts) {
  const Pipe pipe;
  progress::Board board;
  const ProgressReporter reporter(pipe.in(), milliseconds(1), board);
  const uint64_t id = board.begin("waiting for process 4711 to stop", progress::Clock::now());
  EXPECT_THAT(pipe.read_line(), StartsWith("blip: still waiting for process 4711 to stop ("));
  board.end(id);
}

TEST(ProgressReporter, ends_while_a_step_lasts_and_while_there_is_none) {
  const Pipe pipe;
  progress::Board board;
  { const ProgressReporter reporter(pipe.in(), std::chrono::hours(1), board); }
  board.begin("x", progress::Clock::now());
  { const ProgressReporter reporter(pipe.in(), std::chrono::hours(1), board); }
}

TEST(ProgressReporter, does_not_wait_for_a_reader) {
  const Pipe pipe;
  const std::string much(1 << 16, 'x');
  ASSERT_EQ(::write(pipe.in(), much.data(), much.size()), ssize_t(much.size()));  // the pipe is full
  progress::Board board;
  board.begin("x", progress::Clock::now() - seconds(1));
  const ProgressReporter reporter(pipe.in(), milliseconds(0), board);
}

}  // namespace
}  // namespace blip::cli
