// SPDX-License-Identifier: MIT
#include "proc/files/status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "proc/files/process.h"
#include "proc/files/thread_names.h"
#include "proc/memory_sharer.h"
#include "proc/stop_event.h"

namespace blip::proc {
namespace {

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

TEST(Status, fields_are_read) {
  const auto status = parse_status(
      "Name:\tmy prog\nState:\tS "
      "(sleeping)\nTgid:\t77\nPPid:\t5\nTracerPid:\t99\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
      "NSpid:\t77\t12\t1\nSigQ:\t3/"
      "31000\nSigPnd:\t0000000000000001\nShdPnd:\t0000000000004000\nSigBlk:\t8000000000000000\n"
      "SigIgn:\t0000000000001000\nSigCgt:\t0000000180000000\nCapPrm:\t000001ffffffffff\nSeccomp:\t2\n");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->comm, "my prog");
  EXPECT_EQ(status->state, 'S');
  EXPECT_EQ(status->tgid, 77);
  EXPECT_EQ(status->ppid, 5);
  EXPECT_EQ(status->tracer_pid, 99);
  EXPECT_EQ(status->uids, (std::array<uid_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(status->gids, (std::array<gid_t, 4>{5, 6, 7, 8}));
  EXPECT_EQ(status->ns_pids, (std::vector<pid_t>{77, 12, 1}));
  EXPECT_EQ(status->queued_signals, 3u);
  EXPECT_EQ(status->signal_queue, 31000u);
  EXPECT_EQ(status->pending, 1u);
  EXPECT_EQ(status->shared_pending, 0x4000u);
  EXPECT_EQ(status->blocked, uint64_t{1} << 63);
  EXPECT_EQ(status->ignored, 0x1000u);
  EXPECT_EQ(status->caught, 0x180000000u);
  EXPECT_EQ(status->capabilities, 0x1ffffffffffu);
  EXPECT_EQ(status->seccomp_mode, 2);
}

TEST(Status, text_without_a_tgid_is_malformed) {
  EXPECT_FALSE(parse_status(""));
  EXPECT_FALSE(parse_status("Name:\n:\n\n:::"));
}

TEST(Status, only_signals_with_an_effect_interrupt) {
  ProcStatus status;
  status.pending = bit(SIGUSR1) | bit(SIGCHLD);
  status.shared_pending = bit(SIGUSR2) | bit(SIGHUP);
  EXPECT_EQ(status.interrupting_signals(), bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGHUP));
  status.blocked = bit(SIGUSR1);
  status.ignored = bit(SIGHUP);
  EXPECT_EQ(status.interrupting_signals(), bit(SIGUSR2));
  status.caught = bit(SIGCHLD);
  EXPECT_EQ(status.interrupting_signals(), bit(SIGUSR2) | bit(SIGCHLD));
}

TEST(Status, stat_of_a_name_with_blanks_and_parentheses) {
  const auto stat = parse_stat("7 (a) R b) S 1 2 3 4 5 2097152 7 8 9 10 11 12 13 14 15 16 17 18 4711 20");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_TRUE(stat->kernel_thread());
  EXPECT_EQ(stat->num_threads, 17u);
  EXPECT_EQ(stat->start_time, 4711u);
  EXPECT_FALSE(parse_stat("7 (a) S 1 2"));
  EXPECT_FALSE(parse_stat("nothing"));
}

TEST(Status, own_process) {
  const auto status = read_status(::getpid(), ::gettid());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->tgid, ::getpid());
  EXPECT_EQ(status->ppid, ::getppid());
  EXPECT_EQ(status->comm, read_comm(::getpid(), ::gettid()));
  EXPECT_LT(status->queued_signals, status->signal_queue);
  const auto tids = list_threads(::getpid());
  ASSERT_TRUE(tids);
  EXPECT_EQ(tids->front(), ::getpid());
}

TEST(Status, a_thread_that_does_not_exist_is_gone) {
  EXPECT_EQ(read_status(::getpid(), 1).error().kind(), ErrorKind::kGone);
  EXPECT_EQ(list_threads(999999999).error().kind(), ErrorKind::kGone);
  EXPECT_EQ(read_comm(::getpid(), 1), "");
}

// Else a blip that is short of something lets go of threads that it has stopped, or leaves probes where they
// are.
TEST(Status, one_that_cannot_be_looked_at_has_not_ended) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto tids = list_threads(::getpid());
  const auto live = find_live_thread(::getpid());
  const bool ended = thread_ended(::getpid(), ::getpid());
  const auto process = Process::open(::getppid());
  const auto sharer = MemorySharerScan(::getpid(), ::getpid()).find();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(tids);
  EXPECT_EQ(tids.error().errno_value(), EMFILE);
  ASSERT_FALSE(live);
  EXPECT_EQ(live.error().errno_value(), EMFILE);
  EXPECT_FALSE(ended);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().errno_value(), EMFILE);
  ASSERT_FALSE(sharer);
  EXPECT_EQ(sharer.error().errno_value(), EMFILE);
  EXPECT_TRUE(thread_ended(::getpid(), 999999999));
}

}  // namespace
}  // namespace blip::proc
