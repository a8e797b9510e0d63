// SPDX-License-Identifier: MIT
#include "proc/attachment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "proc/test_child.h"
#include "proc/tracer_thread.h"

namespace blip::proc {
namespace {

using std::chrono::milliseconds;
using test::Child;
using testing::HasSubstr;

// Counts its rounds of a computation whose result is known; ends on SIGTERM with 0 if no round went wrong.
volatile sig_atomic_t asked_to_end = 0;

uint64_t round_of_work() {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 1000; ++i) sum = sum * 31 + i;
  return sum;
}

void work_until_asked(Child& self) {
  ::signal(SIGTERM, [](int) { asked_to_end = 1; });
  const uint64_t expected = round_of_work();
  self.tell(1);
  int bad = 0;
  while (!asked_to_end)
    if (round_of_work() != expected) ++bad;
  ::_exit(bad);
}

void stop_and_release(const Process& process, int times) {
  for (int i = 0; i < times; ++i) {
    auto attachment = Attachment::stop_all(process);
    ASSERT_TRUE(attachment) << attachment.error().message();
    ASSERT_GE(attachment->threads().size(), 1u);
    attachment->release();
    EXPECT_GT(attachment->longest_stop().count(), 0);
    EXPECT_LT(attachment->longest_stop(), milliseconds(2000));
  }
}

// Another process wants the same CPU, so the child waits for it when it is let go.
TEST(Attachment, where_no_pause_may_be_long_the_process_runs_between_two_stops) {
  cpu_set_t cpus, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &one);
  auto* rounds = static_cast<std::atomic<uint64_t>*>(::mmap(
      nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(rounds, MAP_FAILED);
  const auto spin = [&](Child& self) {
    ::sched_setaffinity(0, sizeof one, &one);
    self.tell(1);
    for (;;) ++*rounds;
  };
  const auto compete = [&](Child& self) {
    ::sched_setaffinity(0, sizeof one, &one);
    self.tell(1);
    for (;;) round_of_work();
  };
  Child child(spin), other(compete);
  ASSERT_TRUE(child.hear() && other.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  uint64_t before = 0;
  for (int i = 0; i < 30; ++i) {
    auto attachment = Attachment::stop_all(*process, {.pause = std::chrono::seconds(5)});
    ASSERT_TRUE(attachment) << attachment.error().message();
    EXPECT_GT(*rounds, before) << i;
    before = *rounds;
  }
  ::munmap(rounds, sizeof *rounds);
}

TEST(Attachment, two_hundred_stops_of_a_spinning_process) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  stop_and_release(*process, 200);
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

// It cannot have stopped when we look first: it wants the CPU that we are on.
TEST(Attachment, patience_does_not_end_while_a_thread_waits_for_a_cpu) {
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  for (int i = 0; i < 20; ++i) {
    const auto attachment = Attachment::stop_all(*process, {.patience = milliseconds(0)});
    EXPECT_TRUE(attachment) << attachment.error().message();
  }
  ::sched_setaffinity(0, sizeof all, &all);
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Attachment, two_hundred_stops_of_a_sleeping_process) {
  Child child([](Child& self) {
    self.tell(1);
    timespec time{1, 0};
    self.tell(::nanosleep(&time, nullptr));
  });
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  stop_and_release(*process, 200);
  EXPECT_EQ(child.hear(), 0);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Attachment, stopped_means_stopped_and_released_runs) {
  Child child([](Child& self) {
    for (int64_t i = 0;; ++i) self.tell(i);
  });
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  auto attachment = Attachment::stop_all(*process);
  ASSERT_TRUE(attachment);
  EXPECT_EQ(child.state(), 't');
  while (child.hear(50)) {
  }
  EXPECT_FALSE(child.hear(50));
  attachment->release();
  EXPECT_TRUE(child.hear(1000));
  EXPECT_EQ(read_status(child.pid(), child.pid())->tracer_pid, 0);
}

void churn_threads(Child& self) {
  ::signal(SIGTERM, [](int) { asked_to_end = 1; });
  std::atomic<int64_t> made{0};
  std::vector<std::thread> makers;
  for (int i = 0; i < 4; ++i)
    makers.emplace_back([&] {
      do std::thread([&] { ++made; }).join();  // once at least, however busy the machine is
      while (!asked_to_end);
    });
  self.tell(1);
  for (std::thread& maker : makers) maker.join();
  self.tell(made);
}

TEST(Attachment, threads_created_and_ended_all_the_time) {
  Child child(churn_threads);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  for (int i = 0; i < 100; ++i) {
    auto attachment = Attachment::stop_all(*process);
    ASSERT_TRUE(attachment) << attachment.error().message();
    ASSERT_GE(attachment->threads().size(), 5u);
    const auto tids = list_threads(child.pid());
    for (const pid_t tid : *tids) {
      const auto status = read_status(child.pid(), tid);
      if (!status || status->state == 'X' || status->state == 'Z') continue;
      EXPECT_EQ(status->state, 't') << tid;
    }
  }
  child.kill(SIGTERM);
  EXPECT_GT(child.hear().value_or(0), 0);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Attachment, exited_leader) {
  Child child([](Child& self) {
    std::thread([&] {
      while (read_stat(::getpid(), ::getpid())->state != 'Z') test::nap(1);
      work_until_asked(self);
    }).detach();
    ::syscall(SYS_exit, 0);
  });
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  stop_and_release(*process, 20);
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Attachment, one_thread_only) {
  Child child([](Child& self) {
    std::thread([&] {
      self.tell(::gettid());
      ::pause();
    }).detach();
    work_until_asked(self);
  });
  ASSERT_TRUE(child.hear());
  ASSERT_TRUE(child.hear());
  test::nap(50);
  const auto process = Process::open(child.pid());
  auto attachment = Attachment::stop_one(*process);
  ASSERT_TRUE(attachment) << attachment.error().message();
  ASSERT_EQ(attachment->threads().size(), 1u);
  EXPECT_NE(attachment->threads()[0].tid, child.pid()) << "the sleeping thread is the better one";
  EXPECT_TRUE(child.wait_for_state('R'));
}

TEST(Attachment, process_that_ends_meanwhile) {
  for (int i = 0; i < 50; ++i) {
    Child child([](Child& self) {
      self.tell(1);
      for (int n = 0; n < 3; ++n) round_of_work();
      ::_exit(7);
    });
    ASSERT_TRUE(child.hear());
    const auto process = Process::open(child.pid());
    if (process) {
      auto attachment = Attachment::stop_all(*process);
      EXPECT_TRUE(attachment || attachment.error().kind() == ErrorKind::kGone)
          << attachment.error().message();
    }
    EXPECT_EQ(WEXITSTATUS(child.wait()), 7);
  }
}

TEST(Attachment, process_that_calls_exec_all_the_time) {
  Child child([](Child&) {
    const char* script = "exec sh -c \"$0\" \"$0\"";
    ::execlp("sh", "sh", "-c", script, script, nullptr);
  });
  for (int i = 0; i < 100; ++i) {
    const auto process = Process::open(child.pid());
    ASSERT_TRUE(process || process.error().kind() == ErrorKind::kGone) << process.error().message();
    if (!process) continue;
    auto attachment = Attachment::stop_all(*process);
    ASSERT_TRUE(attachment || attachment.error().kind() == ErrorKind::kGone) << attachment.error().message();
  }
  EXPECT_NE(child.state(), 'Z');
  EXPECT_NE(child.state(), 't');
}

TEST(Attachment, killed_while_stopped) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  auto attachment = Attachment::stop_all(*process);
  ASSERT_TRUE(attachment);
  child.kill(SIGKILL);
  attachment->release();
  EXPECT_EQ(WTERMSIG(child.wait()), SIGKILL);
}

TEST(Attachment, second_tracer_is_named) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
  const auto attachment = on_tracer_thread([&] { return Attachment::stop_all(*process); });
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().kind(), ErrorKind::kBusy);
  EXPECT_THAT(attachment.error().message(), HasSubstr("already traced by proc_test (pid "));
}

TEST(Attachment, vfork_child_is_waited_for_until_the_deadline) {
  Child child([](Child& self) {
    self.tell(1);
    if (::vfork() == 0) {
      ::usleep(700'000);
      ::_exit(0);
    }
    self.tell(2);
    ::pause();
  });
  ASSERT_TRUE(child.hear());
  ASSERT_TRUE(child.wait_for_state('D'));
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  EXPECT_TRUE(find_memory_sharer(*process)->has_value());
  const auto early =
      on_tracer_thread([&] { return Attachment::stop_all(*process, {.patience = milliseconds(100)}); });
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().kind(), ErrorKind::kTimeout);
  EXPECT_THAT(early.error().message(), HasSubstr("shares the memory of " + std::to_string(child.pid())));
  const auto one =
      on_tracer_thread([&] { return Attachment::stop_one(*process, {.patience = milliseconds(100)}); });
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message(), HasSubstr("waits for its vfork child"));
  EXPECT_TRUE(Attachment::stop_all(*process)) << "the child ends within the default deadline";
  EXPECT_EQ(child.hear(), 2);
  EXPECT_FALSE(*find_memory_sharer(*process));
}

TEST(Attachment, group_stopped_process_stays_stopped) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  child.kill(SIGSTOP);
  ASSERT_TRUE(child.wait_for_state('T'));
  ASSERT_EQ(::waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  const auto process = Process::open(child.pid());
  for (int i = 0; i < 20; ++i) {
    auto attachment = Attachment::stop_all(*process);
    ASSERT_TRUE(attachment) << attachment.error().message();
    EXPECT_EQ(child.state(), 't');
    attachment->release();
    ASSERT_TRUE(child.wait_for_state('T'));
    test::nap(2);
    ASSERT_TRUE(child.wait_for_state('T'));
    EXPECT_EQ(::waitpid(child.pid(), nullptr, WUNTRACED | WCONTINUED | WNOHANG), 0)
        << "nothing new for the parent";
  }
  child.kill(SIGCONT);
  ASSERT_TRUE(child.wait_for_state('R'));
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Attachment, stop_signal_during_the_stop_takes_effect_after_it) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  {
    auto attachment = Attachment::stop_all(*process);
    ASSERT_TRUE(attachment);
    child.kill(SIGSTOP);
  }
  EXPECT_TRUE(child.wait_for_state('T'));
  child.kill(SIGCONT);
  EXPECT_TRUE(child.wait_for_state('R'));
  child.kill(SIGTERM);
  EXPECT_EQ(WEXITSTATUS(child.wait()), 0);
}

TEST(Attachment, moved_attachments_release_once) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  auto first = Attachment::stop_all(*process);
  ASSERT_TRUE(first);
  Attachment second = *std::move(first);
  EXPECT_EQ(child.state(), 't');
  second.release();
  second.release();
  EXPECT_TRUE(child.wait_for_state('R'));
}

TEST(Thread, rseq_registration_and_shadow_stack) {
  Child child(work_until_asked);
  ASSERT_TRUE(child.hear());
  const auto process = Process::open(child.pid());
  auto attachment = Attachment::stop_all(*process);
  ASSERT_TRUE(attachment);
  const Thread& thread = attachment->threads()[0];
  const auto rseq = thread.rseq();
  ASSERT_TRUE(rseq) << rseq.error().message();
  EXPECT_NE(rseq->area.value, 0u);
  EXPECT_GE(rseq->size, 32u);
  EXPECT_EQ(rseq->signature, 0x53053053u);
  EXPECT_FALSE(thread.shadow_stack());
}

TEST(Thread, restart_pc_is_the_system_call_instruction) {
  Thread thread;
  thread.registers.rip = 0x1002;
  thread.registers.orig_rax = 35;
  for (const int64_t code : {-512, -513, -514, -516}) {
    thread.registers.rax = static_cast<uint64_t>(code);
    EXPECT_EQ(thread.restart_pc(), 0x1000u) << code;
  }
  thread.registers.rax = static_cast<uint64_t>(-515);
  EXPECT_EQ(thread.restart_pc(), 0x1002u);
  thread.registers.rax = static_cast<uint64_t>(-512);
  thread.registers.orig_rax = static_cast<uint64_t>(-1);
  EXPECT_EQ(thread.restart_pc(), 0x1002u);
}

}  // namespace
}  // namespace blip::proc
