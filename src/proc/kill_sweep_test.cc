// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <vector>

#include "proc/test_caller.h"
#include "proc/test_child.h"

// strace kills the injector, or makes its system call fail, at its 1st, 2nd, 3rd ... call of one kind. The
// injector is this program itself, run with the filter below. Whatever happens to it, the target must go on
// undisturbed.

namespace blip::proc {
namespace {

using test::Child;

constexpr const char* kPidVariable = "BLIP_TEST_TARGET_PID";
constexpr const char* kInjectorFilter = "--gtest_filter=KillSweep.DISABLED_injector";
constexpr int kMaxCalls = 100;

Status inject(RemoteCaller& caller) {
  TRY(const int fd, remote_memfd_create(caller, "blip-sweep", 0));
  CallList list;
  list.add(SYS_close, fd);
  list.add(SYS_gettid);
  TRY_OK(caller.run(list));
  TRY_OK(list.first_error());
  return test::map_and_unmap(caller);
}

TEST(KillSweep, DISABLED_injector) {
  const char* pid = std::getenv(kPidVariable);
  if (!pid) GTEST_SKIP() << "run by the other tests of this file";
  const Status status = test::with_caller(std::atoi(pid), inject);
  EXPECT_TRUE(status) << status.error().message();
}

// The wait status of the injector under strace with this injection; what strace saw of it goes to `log`.
int run_injector(pid_t target, const std::string& injection, const std::string& log = "/dev/null") {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(kPidVariable, std::to_string(target).c_str(), 1);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 1);
    ::dup2(null, 2);
    const std::string self = fmt::format("/proc/{}/exe", ::getppid());
    const std::string option = "inject=" + injection;
    ::execlp("strace", "strace", "-f", "-qq", "-o", log.c_str(), "-e", option.c_str(), self.c_str(),
             kInjectorFilter, "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

bool strace_works() {
  Child child([](Child& self) {
    self.tell(1);
    for (;;) ::pause();
  });
  child.hear();
  return run_injector(child.pid(), "ptrace:when=9999:error=EIO") == 0;
}

volatile sig_atomic_t asked_to_end = 0;

// Each target repeats something whose outcome is known, tells the number of wrong outcomes at the end.
void repeat_until_asked(Child& self, bool (*right)()) {
  ::signal(SIGUSR1, [](int) { asked_to_end = 1; });
  self.tell(0);
  int64_t wrong = 0;
  int64_t rounds = 0;
  while (!asked_to_end) {
    if (!right() && !asked_to_end) ++wrong;
    ++rounds;
  }
  self.tell(wrong);
  self.tell(rounds);
}

bool compute() {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 100'000; ++i) sum = sum * 31 + i;
  static const uint64_t expected = sum;
  return sum == expected;
}

bool sleep_awhile() {
  const timespec time{0, 20'000'000};
  return ::nanosleep(&time, nullptr) == 0;
}

bool poll_awhile() {
  pollfd entry{-1, 0, 0};
  return ::poll(&entry, 1, 20) == 0;
}

bool epoll_awhile() {
  static const int fd = ::epoll_create1(0);
  epoll_event event;
  return ::epoll_wait(fd, &event, 1, 20) == 0;
}

struct Sweep {
  const char* name;
  bool (*right)();
  int64_t allowed_wrong;  // the kernel's own EINTR between the stop and the repair of it (four system calls)
};

constexpr Sweep kTargets[] = {{"compute", compute, 0},
                              {"nanosleep", sleep_awhile, 0},
                              {"poll", poll_awhile, 0},
                              {"epoll", epoll_awhile, 5}};

void expect_unharmed(Child& child, const Sweep& sweep) {
  child.kill(SIGUSR1);
  const auto wrong = child.hear();
  ASSERT_TRUE(wrong) << "the target did not come back";
  EXPECT_LE(*wrong, sweep.allowed_wrong);
  EXPECT_GT(child.hear().value_or(0), 0);
  EXPECT_EQ(child.wait(), 0);
}

void expect_clean_text(pid_t pid) {
  ASSERT_EQ(run_injector(pid, "ptrace:when=9999:error=EIO"), 0) << "a later attach works and cleans up";
  auto memory = Memory::open(pid);
  const auto site = find_stub_site(*memory, *read_maps(pid));
  std::vector<uint8_t> now(site->original.size());
  ASSERT_TRUE(memory->read(site->addr, now));
  EXPECT_EQ(now, site->original);
}

// The number of times that the injector makes the system call.
int count_calls(pid_t target, const std::string& system_call) {
  const std::string log = fmt::format("/tmp/blip-proc-test-strace-{}", ::getpid());
  run_injector(target, system_call + ":when=9999:error=EIO", log);
  const std::string text = read_proc_file(log).value_or("");
  ::unlink(log.c_str());
  int count = 0;
  for (size_t at = text.find(system_call + "("); at != std::string::npos;
       at = text.find(system_call + "(", at + 1))
    ++count;
  return count;
}

// The kernel lets the target go only after the tracer's end has been reported.
bool goes_on(const Child& child) {
  for (int i = 0; i < 1000; ++i, test::nap(2)) {
    const char state = child.state();
    if (state == 'R' || state == 'S') return true;
  }
  return false;
}

void fail_every(Child& child, const char* system_call) {
  const int count = count_calls(child.pid(), system_call);
  EXPECT_GT(count, 0);
  for (int n = 1; n <= count; ++n) {
    SCOPED_TRACE(fmt::format("{} {}", system_call, n));
    EXPECT_TRUE(WIFEXITED(run_injector(child.pid(), fmt::format("{}:error=EIO:when={}", system_call, n))));
    EXPECT_TRUE(goes_on(child)) << child.state();
  }
}

// Kills at every call; the number of them.
int kill_at_every(Child& child, const char* system_call) {
  for (int n = 1; n < kMaxCalls; ++n) {
    const int status = run_injector(child.pid(), fmt::format("{}:signal=KILL:when={}", system_call, n));
    if (!WIFSIGNALED(status)) return n - 1;
    // The kernel lets go of it in its own time: for a moment it may still show as stopped.
    EXPECT_TRUE(goes_on(child)) << system_call << " " << n << ": " << child.state();
  }
  return kMaxCalls;
}

TEST(KillSweep, killed_at_every_call) {
  if (!strace_works()) GTEST_SKIP() << "strace cannot be used here";
  for (const Sweep& sweep : kTargets) {
    SCOPED_TRACE(sweep.name);
    Child child([&](Child& self) { repeat_until_asked(self, sweep.right); });
    ASSERT_TRUE(child.hear());
    EXPECT_GE(kill_at_every(child, "ptrace"), 15);
    EXPECT_GE(kill_at_every(child, "pwrite64"), 2);
    EXPECT_GE(kill_at_every(child, "process_vm_writev"), 3);
    expect_clean_text(child.pid());
    expect_unharmed(child, sweep);
  }
}

TEST(KillSweep, every_call_fails_once) {
  if (!strace_works()) GTEST_SKIP() << "strace cannot be used here";
  for (const Sweep& sweep : kTargets) {
    SCOPED_TRACE(sweep.name);
    Child child([&](Child& self) { repeat_until_asked(self, sweep.right); });
    ASSERT_TRUE(child.hear());
    fail_every(child, "ptrace");
    fail_every(child, "pwrite64");
    fail_every(child, "process_vm_writev");
    expect_clean_text(child.pid());
    expect_unharmed(child, sweep);
  }
}

}  // namespace
}  // namespace blip::proc
