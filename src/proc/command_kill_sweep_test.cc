// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include <set>

#include "proc/command.h"
#include "proc/test_child.h"
#include "proc/test_command.h"

// A blip that starts a command is killed at its 1st, 2nd, 3rd ... system call. Whenever that is, the command
// must not be left stopped: it ends with blip or, once it was let go, runs to its end.

namespace blip::proc {
namespace {

constexpr unsigned long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
constexpr int kSyscallStop = SIGTRAP | 0x80;
constexpr int kMaxCalls = 5000;
constexpr int kLastCalls = 16;
constexpr int kTriesAtTheEnd = 1000;
constexpr int kPatience = 5000;  // milliseconds

[[noreturn]] void start_and_wait() {
  ::kill(::getpid(), SIGSTOP);
  auto command = Command::start({"sh", "-c", "exit 7"});
  if (!command) ::_exit(1);
  const TargetAddr entry(test::auxv(command->pid(), AT_ENTRY));
  if (!command->run_to(entry, []() -> Result<bool> { return true; })) ::_exit(2);
  if (!command->go()) ::_exit(3);
  ::_exit(WEXITSTATUS(command->wait()));
}

// True if blip was killed at its n-th system call, false if it made fewer.
bool run_until_call(pid_t blip, int n) {
  int status = 0;
  ::waitpid(blip, &status, WUNTRACED);
  if (::ptrace(PTRACE_SEIZE, blip, nullptr, kOptions) != 0) return false;
  ::kill(blip, SIGCONT);
  int stops = 0;
  for (;;) {
    const pid_t tid = ::waitpid(-1, &status, __WALL);
    if (tid < 0) return false;
    if (tid == blip && !WIFSTOPPED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 7);
      return false;
    }
    if (!WIFSTOPPED(status)) continue;
    const bool at_call = WSTOPSIG(status) == kSyscallStop;
    if (at_call && ++stops == 2 * n - 1) {
      ::kill(blip, SIGKILL);
      return true;
    }
    const bool own = at_call || status >> 16 != 0 || WSTOPSIG(status) == SIGTRAP;
    ::ptrace(PTRACE_SYSCALL, tid, nullptr, own ? 0 : WSTOPSIG(status));
  }
}

// How the commands of a killed blip ended. They are our children now; blip's threads are reaped too.
std::set<std::string> reap_all() {
  std::set<std::string> fates;
  for (int waited = 0; waited < kPatience;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (pid < 0) return fates;
    if (pid == 0) {
      test::nap(1);
      ++waited;
    } else if (WIFSTOPPED(status)) {
      ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
    } else {
      fates.insert(WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                       : fmt::format("exit {}", WEXITSTATUS(status)));
    }
  }
  fates.insert("left");
  return fates;
}

TEST(CommandKillSweep, no_command_is_left_stopped) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::set<std::string> all;
  // False: blip has made fewer calls.
  const auto kill_at = [&](int n) {
    const pid_t blip = ::fork();
    if (blip == 0) start_and_wait();
    const bool killed = run_until_call(blip, n);
    const auto fates = reap_all();
    EXPECT_FALSE(fates.contains("left")) << "killed at system call " << n;
    all.insert(fates.begin(), fates.end());
    return killed;
  };
  int n = 1;
  while (n < kMaxCalls && kill_at(n) && !HasFailure()) ++n;
  // The last calls are those after go(); as blip polls, their numbers differ from run to run.
  for (int i = 0; i < kTriesAtTheEnd && !all.contains("exit 7"); ++i) kill_at(n - i % kLastCalls);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_GT(n, 50);
  EXPECT_TRUE(all.contains("signal 9"));
  EXPECT_TRUE(all.contains("exit 7")) << "commands that were let go finish";
  for (const std::string& fate : all)
    EXPECT_TRUE(fate == "signal 9" || fate == "exit 7" || fate == "exit 127") << fate;
}

}  // namespace
}  // namespace blip::proc
