// SPDX-License-Identifier: MIT
#include "proc/command.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "proc/test_child.h"
#include "proc/test_command.h"

namespace blip::proc {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr auto kAlways = []() -> Result<bool> { return true; };

char state_of(pid_t pid) {
  const auto stat = read_stat(pid, pid);
  return stat ? stat->state : '?';
}

bool held(const Command& command) {
  for (int i = 0; i < 2000 && state_of(command.pid()) != 'T'; ++i) test::nap(1);
  return state_of(command.pid()) == 'T' && read_status(command.pid(), command.pid())->tracer_pid == 0;
}

std::string target(const std::string& name) { return std::string(BLIP_TEST_TARGET_DIR) + "/" + name; }

// The output of the words when a shell-like parent starts them.
std::string output_of_direct(const Words& words) {
  test::CapturedOutput output;
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  return output.text();
}

std::string output_of_command(const Words& words, const SignalState& signals) {
  test::CapturedOutput output;
  auto command = Command::start(words, signals);
  EXPECT_TRUE(command) << command.error().message();
  if (!command) return "";
  const auto entry = test::auxv(command->pid(), AT_ENTRY);
  EXPECT_EQ(*command->run_to(TargetAddr(entry), kAlways), Command::RunEnd::kThere);
  const Status went = command->go();
  EXPECT_TRUE(went) << went.error().message();
  EXPECT_EQ(command->wait(), 0);
  return output.text();
}

// The lines of /proc/PID/status with these keys.
std::string lines_with(const std::string& text, const std::set<std::string>& keys) {
  std::string found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (keys.contains(line.substr(0, line.find(':')))) found += line + "\n";
  return found;
}

TEST(Command, is_held_before_its_first_instruction) {
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command) << command.error().message();
  EXPECT_TRUE(held(*command));
  EXPECT_EQ(test::pc_of(command->pid()), test::first_instruction(command->pid()));
  EXPECT_TRUE(held(*command)) << "also after somebody looked at it";
}

class EveryKind : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryKind, is_held_at_its_first_instruction_and_runs_right) {
  const std::string path = target(GetParam());
  if (::access(path.c_str(), X_OK) != 0) GTEST_SKIP() << path << " is not built (e2e_targets)";
  test::CapturedOutput output;
  auto command = Command::start({path});
  ASSERT_TRUE(command) << command.error().message();
  EXPECT_EQ(test::pc_of(command->pid()), test::first_instruction(command->pid()));
  const uint64_t entry = test::auxv(command->pid(), AT_ENTRY);
  if (test::auxv(command->pid(), AT_BASE) != 0) {
    EXPECT_EQ(*command->run_to(TargetAddr(entry), kAlways), Command::RunEnd::kThere);
    EXPECT_EQ(test::pc_of(command->pid()), entry);
    EXPECT_TRUE(held(*command));
  }
  ASSERT_TRUE(command->go());
  EXPECT_EQ(command->wait(), 0);
  EXPECT_EQ(output.text(), output_of_direct({path}));
}

INSTANTIATE_TEST_SUITE_P(Command, EveryKind,
                         ::testing::Values("spawned", "spawned_nopie", "spawned_static", "spawned_static_pie",
                                           "spawned_musl", "spawned_musl_static"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(Command, passes_its_words_output_and_status_on) {
  test::CapturedOutput output;
  auto command = Command::start({"sh", "-c", "echo \"$0|$1|$2\"; exit 3", "a b", "", "\"c\""});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(WEXITSTATUS(command->wait()), 3);
  EXPECT_EQ(command->wait(), command->poll());
  EXPECT_EQ(output.text(), "a b||\"c\"\n");
}

TEST(Command, death_by_signal_is_told) {
  auto command = Command::start({"sh", "-c", "kill -USR1 $$"});
  ASSERT_TRUE(command->go());
  EXPECT_EQ(WTERMSIG(command->wait()), SIGUSR1);
}

TEST(Command, sees_what_a_shell_would_give_it) {
  const Words status_words = {"cat", "/proc/self/status"};
  const std::set<std::string> keys = {"Umask",     "SigBlk",  "SigIgn", "SigCgt",      "SigPnd", "ShdPnd",
                                      "TracerPid", "Seccomp", "CapEff", "CapBnd",      "Uid",    "Gid",
                                      "Groups",    "NSpgid",  "NSsid",  "Cpus_allowed"};
  const SignalState now = SignalState::current();
  const std::string direct = lines_with(output_of_direct(status_words), keys);
  EXPECT_THAT(direct, HasSubstr("SigIgn:"));
  EXPECT_THAT(direct, HasSubstr("NSpgid:"));
  EXPECT_EQ(lines_with(output_of_command(status_words, now), keys), direct);
  EXPECT_EQ(output_of_command({"env"}, now), output_of_direct({"env"}));
  EXPECT_EQ(output_of_command({"ls", "/proc/self/fd"}, now), output_of_direct({"ls", "/proc/self/fd"}));
  EXPECT_EQ(output_of_command({"cat", "/proc/self/limits"}, now),
            output_of_direct({"cat", "/proc/self/limits"}));
  EXPECT_EQ(output_of_command({"cat", "/proc/self/cmdline"}, now),
            output_of_direct({"cat", "/proc/self/cmdline"}));
}

// Ignored signals of a status text, without the two that libc keeps for itself (32, 33): they stay as whoever
// started the test left them.
uint64_t ignored_in(const std::string& text) {
  constexpr uint64_t kLibcs = uint64_t{3} << 31;
  return std::stoull(lines_with(text, {"SigIgn"}).substr(8), nullptr, 16) & ~kLibcs;
}

TEST(Command, ignored_and_blocked_signals_are_handed_on_although_a_breakpoint_was_used) {
  SignalState odd = SignalState::current();
  odd.ignored = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGINT - 1) | uint64_t{1} << (SIGCHLD - 1);
  ::sigaddset(&odd.blocked, SIGUSR2);
  const std::string text = output_of_command({"cat", "/proc/self/status"}, odd);
  EXPECT_EQ(ignored_in(text), 0x10012u);
  EXPECT_EQ(lines_with(text, {"SigBlk"}), "SigBlk:\t0000000000000800\n");
  ::sigaddset(&odd.blocked, SIGTRAP);
  odd.ignored = 0;
  EXPECT_EQ(lines_with(output_of_command({"cat", "/proc/self/status"}, odd), {"SigBlk"}),
            "SigBlk:\t0000000000000810\n");
}

TEST(Command, what_blip_has_changed_of_its_own_signals_is_not_handed_on) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const std::string text = output_of_command({"cat", "/proc/self/status"}, SignalState::inherited());
  ::signal(SIGPIPE, before);
  EXPECT_EQ(ignored_in(text), SignalState::inherited().ignored);
}

TEST(Command, that_is_not_let_go_never_runs) {
  const std::string path = fmt::format("/tmp/blip-command-test-{}", ::getpid());
  pid_t pid = 0;
  {
    auto command = Command::start({"touch", path});
    ASSERT_TRUE(command);
    pid = command->pid();
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_EQ(state_of(pid), '?') << "no zombie either";
  ::unlink(path.c_str());
}

TEST(Command, run_to_a_place_that_is_never_reached_tells_the_end) {
  auto command = Command::start({"sh", "-c", "exit 5"});
  ASSERT_TRUE(command);
  const auto end = command->run_to(TargetAddr(0x1000), kAlways);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(*end, Command::RunEnd::kEnded);
  EXPECT_EQ(WEXITSTATUS(command->wait()), 5);
}

TEST(Command, run_to_stops_at_another_exec) {
  auto command = Command::start({"env", "env", "true"});
  ASSERT_TRUE(command);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(*command->run_to(TargetAddr(0x1000), kAlways), Command::RunEnd::kExec);
    EXPECT_TRUE(held(*command));
    EXPECT_EQ(test::pc_of(command->pid()), test::first_instruction(command->pid()));
  }
  ASSERT_TRUE(command->go());
  EXPECT_EQ(command->wait(), 0);
}

// The entry of the loader is passed once, the entry of the program once; _dl_debug_state twice.
TEST(Command, run_to_asks_each_time_it_comes_by) {
  auto command = Command::start({"true"});
  ASSERT_TRUE(command);
  int visits = 0;
  const uint64_t entry = test::auxv(command->pid(), AT_ENTRY);
  const auto end = command->run_to(TargetAddr(entry), [&]() -> Result<bool> { return ++visits == 2; });
  EXPECT_EQ(*end, Command::RunEnd::kEnded);
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(command->wait(), 0);
}

TEST(Command, signals_that_come_while_it_is_held_are_delivered_when_it_goes) {
  auto command = Command::start({"sh", "-c", "sleep 100"});
  ASSERT_TRUE(command);
  command->send(SIGUSR1);
  EXPECT_TRUE(held(*command));
  ASSERT_TRUE(command->go());
  EXPECT_EQ(WTERMSIG(command->wait()), SIGUSR1);
}

TEST(Command, continued_by_somebody_else_is_noticed) {
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command);
  ASSERT_TRUE(held(*command));
  command->send(SIGCONT);
  const auto end = command->run_to(TargetAddr(0x1000), kAlways);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::kBusy);
}

TEST(Command, killed_while_held_is_gone) {
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command);
  command->send(SIGKILL);
  const auto end = command->run_to(TargetAddr(0x1000), kAlways);
  ASSERT_FALSE(end && *end != Command::RunEnd::kEnded);
  EXPECT_EQ(WTERMSIG(command->wait()), SIGKILL);
}

TEST(Command, runs_when_it_was_let_go_and_its_blip_dies) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  test::Child blip([](test::Child& self) {
    auto command = Command::start({"sh", "-c", "read x; exit 7"});
    if (!command || !command->go()) ::_exit(1);
    self.tell(command->pid());
    ::pause();
  });
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const auto pid = blip.hear();
  ASSERT_TRUE(pid);
  blip.kill(SIGKILL);
  blip.wait();
  int status = 0;
  EXPECT_EQ(::waitpid(static_cast<pid_t>(*pid), &status, 0), *pid);
  EXPECT_EQ(WEXITSTATUS(status), 7) << status;
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace blip::proc
