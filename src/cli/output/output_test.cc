// SPDX-License-Identifier: MIT
#include "cli/output/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "base/fd.h"
#include "cli/standard_descriptors.h"

namespace blip::cli {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMoreThanAnyHolds = 8 << 20;

struct Ends {
  Fd reader;
  Fd writer;
};

Ends make_pipe() {
  int fds[2];
  EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

Ends make_socket() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

Ends make_terminal() {
  int master, slave;
  EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  return {Fd(master), Fd(slave)};
}

Ends make_stopped_terminal() {
  Ends ends = make_terminal();
  EXPECT_EQ(tcflow(ends.writer.get(), TCOOFF), 0);  // Ctrl-S
  return ends;
}

Ends make_terminal_master() {
  Ends ends = make_terminal();
  termios raw;
  tcgetattr(ends.reader.get(), &raw);
  cfmakeraw(&raw);
  tcsetattr(ends.reader.get(), TCSANOW, &raw);
  std::swap(ends.reader, ends.writer);
  return ends;
}

class FullOutput : public testing::TestWithParam<Ends (*)()> {
 protected:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }
  Ends ends_ = GetParam()();
};

INSTANTIATE_TEST_SUITE_P(Output, FullOutput,
                         testing::Values(&make_pipe, &make_socket, &make_terminal, &make_stopped_terminal,
                                         &make_terminal_master));

TEST_P(FullOutput, an_offer_does_not_wait_and_keeps_what_did_not_fit) {
  Output output(ends_.writer.get());
  std::string text(kMoreThanAnyHolds, 'x');
  EXPECT_TRUE(output.offer(text));
  const size_t left = text.size();
  EXPECT_GT(left, 0U);
  EXPECT_TRUE(output.offer(text, milliseconds(20)));
  EXPECT_TRUE(output.offer(text));
  EXPECT_GT(text.size(), 0U);
}

TEST_P(FullOutput, its_own_open_file_is_left_as_it_was) {
  const int before = fcntl(ends_.writer.get(), F_GETFL);
  Output output(ends_.writer.get());
  std::string text(kMoreThanAnyHolds, 'x');
  output.offer(text);
  EXPECT_EQ(fcntl(ends_.writer.get(), F_GETFL), before);
}

TEST_P(FullOutput, a_reader_that_takes_nothing_is_given_up_and_the_loss_is_known) {
  Output output(ends_.writer.get(), [] { return Patience(milliseconds(1)); });
  EXPECT_FALSE(output.write(std::string(kMoreThanAnyHolds, 'x')));
  EXPECT_EQ(output.error(), 0);
  EXPECT_GT(output.given_up(), 0U);
}

TEST(Output, a_stopped_terminal_goes_on_where_it_was) {
  const Ends ends = make_stopped_terminal();
  Output output(ends.writer.get());
  std::string text = "abc";
  EXPECT_TRUE(output.offer(text));
  EXPECT_EQ(text, "abc");
  tcflow(ends.writer.get(), TCOON);
  EXPECT_TRUE(output.offer(text));
  EXPECT_EQ(text, "");
}

TEST(Output, closed_standard_descriptors_are_taken_and_fail_as_if_closed) {
  ASSERT_EXIT(
      {
        close(0);
        close(1);
        close(2);
        open_standard_descriptors();
        char byte = 0;
        const bool fails = read(0, &byte, 1) < 0 && errno == EBADF && write(1, "x", 1) < 0 &&
                           errno == EBADF && write(2, "x", 1) < 0 && errno == EBADF;
        const bool leaves_no_trace = fcntl(0, F_GETFD) == FD_CLOEXEC && fcntl(2, F_GETFD) == FD_CLOEXEC;
        Output output(1);
        _exit(fails && leaves_no_trace && !output.write("x") && output.error() == EBADF ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace blip::cli
