// SPDX-License-Identifier: MIT
#include "proc/files/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <thread>

#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/test_child.h"
#include "proc/test_filter.h"

namespace blip::proc {
namespace {

using test::Child;
using testing::HasSubstr;

void sleep_forever(Child&) {
  for (;;) ::pause();
}

Error refusal(pid_t pid) {
  auto process = Process::open(pid);
  if (process) return Error(ErrorKind::kSystem, "was not refused");
  return process.error();
}

// The message a process of an ordinary user gets; needs root to become one.
std::string refusal_as(uid_t uid, pid_t pid) {
  int out[2];
  if (::pipe(out) != 0) return "no pipe";
  const pid_t helper = ::fork();
  if (helper == 0) {
    if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) ::_exit(1);
    const std::string text = refusal(pid).message();
    (void)!::write(out[1], text.data(), text.size());
    ::_exit(0);
  }
  ::waitpid(helper, nullptr, 0);
  char text[1024];
  ::close(out[1]);
  const ssize_t length = ::read(out[0], text, sizeof text);
  ::close(out[0]);
  return length > 0 ? std::string(text, static_cast<size_t>(length)) : "nothing";
}

TEST(Process, tells_what_it_is) {
  Child child(sleep_forever);
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process) << process.error().message();
  EXPECT_EQ(process->pid(), child.pid());
  EXPECT_EQ(process->ns_pid(), child.pid());
  EXPECT_GT(process->start_time(), 0u);
  EXPECT_THAT(process->exe_path(), HasSubstr("proc_test"));
  EXPECT_EQ(process->comm(), "proc_test");
  EXPECT_TRUE(process->alive());
  child.kill(SIGKILL);
  child.wait_for_state('Z');
  EXPECT_FALSE(process->alive());
}

TEST(Process, numbers_that_are_no_process) {
  EXPECT_EQ(refusal(0).kind(), ErrorKind::kUsage);
  EXPECT_EQ(refusal(-5).kind(), ErrorKind::kUsage);
  EXPECT_EQ(refusal(999999999).kind(), ErrorKind::kNotFound);
  EXPECT_THAT(refusal(999999999).message(), HasSubstr("no such process: 999999999"));
}

TEST(Process, zombie) {
  Child child([](Child&) {});
  ASSERT_TRUE(child.wait_for_state('Z'));
  EXPECT_THAT(refusal(child.pid()).message(), HasSubstr("zombie"));
}

TEST(Process, kernel_thread) {
  const auto stat = read_stat(2, 2);
  if (!stat || !stat->kernel_thread()) GTEST_SKIP() << "no kernel threads in this pid namespace";
  EXPECT_THAT(refusal(2).message(), HasSubstr("kernel thread"));
}

TEST(Process, thread_id_names_the_process) {
  Child child([](Child& self) {
    std::thread([&] {
      self.tell(::gettid());
      ::pause();
    }).join();
  });
  const auto tid = child.hear();
  ASSERT_TRUE(tid);
  const Error error = refusal(static_cast<pid_t>(*tid));
  EXPECT_EQ(error.message(), std::to_string(*tid) + " is a thread of process " + std::to_string(child.pid()) +
                                 ": use -p " + std::to_string(child.pid()));
}

TEST(Process, blip_and_its_ancestors) {
  EXPECT_THAT(refusal(::getpid()).message(), HasSubstr("blip itself"));
  EXPECT_THAT(refusal(::getppid()).message(), HasSubstr("ancestor of blip"));
}

TEST(Process, exited_leader_with_live_threads) {
  Child child([](Child& self) {
    std::thread([&] {
      while (read_stat(::getpid(), ::getpid())->state != 'Z') test::nap(1);
      self.tell(1);
      ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);
  });
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process) << process.error().message();
  EXPECT_TRUE(process->alive());
  EXPECT_TRUE(read_maps(child.pid()));
  EXPECT_TRUE(Memory::open(child.pid()));
}

TEST(Process, a_filter_of_any_thread) {
  Child child([](Child& self) {
    std::thread([&] {
      self.tell(test::install_filter());
      ::pause();
    }).detach();
    sleep_forever(self);
  });
  ASSERT_EQ(child.hear(), 1);
  EXPECT_EQ(Process::open(child.pid())->seccomp_mode(), 2);
}

TEST(Process, already_traced_names_the_tracer) {
  Child child(sleep_forever);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
  const Error error = refusal(child.pid());
  EXPECT_EQ(error.kind(), ErrorKind::kBusy);
  EXPECT_THAT(error.message(), HasSubstr("already traced by proc_test (pid " + std::to_string(::getpid()) +
                                         "): detach it first"));
}

TEST(Process, other_users_process) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child(sleep_forever);
  EXPECT_THAT(refusal_as(1234, child.pid()), HasSubstr("belongs to uid 0 (root)"));
}

TEST(Process, non_dumpable_process) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child([](Child& self) {
    if (::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 0);
    self.tell(1);
    sleep_forever(self);
  });
  ASSERT_TRUE(child.hear());
  EXPECT_THAT(refusal_as(1234, child.pid()), HasSubstr("PR_SET_DUMPABLE"));
  EXPECT_EQ(refusal(child.pid()).message(), "was not refused");
}

TEST(Process, own_process_of_an_ordinary_user) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child([](Child& self) {
    if (::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 1);
    self.tell(1);
    sleep_forever(self);
  });
  ASSERT_TRUE(child.hear());
  EXPECT_EQ(refusal_as(1234, child.pid()), "was not refused");
}

}  // namespace
}  // namespace blip::proc
