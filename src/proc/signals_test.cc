// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <thread>

#include "proc/test_caller.h"
#include "proc/test_child.h"

namespace blip::proc {
namespace {

using test::Child;
using test::map_and_unmap;
using test::with_caller;

Child* this_child = nullptr;

void tell_value(int, siginfo_t* info, void*) { this_child->tell(info->si_value.sival_int); }

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(signal, &action, nullptr);
}

void queue_value(pid_t pid, int signal, int value) {
  sigval payload{};
  payload.sival_int = value;
  while (::sigqueue(pid, signal, payload) != 0 && errno == EAGAIN) test::nap(1);
}

void listen_for_signals(Child& self) {
  this_child = &self;
  handle(SIGRTMIN, tell_value);
  self.tell(-1);
}

void spin_and_listen(Child& self) {
  listen_for_signals(self);
  for (volatile uint64_t i = 0;;) i = i + 1;
}

void sleep_and_listen(Child& self) {
  listen_for_signals(self);
  for (;;) ::pause();
}

void expect_values(Child& child, int count) {
  for (int value = 0; value < count; ++value) ASSERT_EQ(child.hear(), value);
  EXPECT_FALSE(child.hear(50)) << "a signal came twice";
}

void signals_during_a_stop(const Child::Body& body) {
  Child child(body);
  ASSERT_TRUE(child.hear());
  const Status status = with_caller(child.pid(), [&](RemoteCaller& caller) -> Status {
    for (int value = 0; value < 64; ++value) queue_value(child.pid(), SIGRTMIN, value);
    return map_and_unmap(caller);
  });
  ASSERT_TRUE(status) << status.error().message();
  expect_values(child, 64);
}

TEST(Signals, queued_during_a_stop_come_once_and_in_order_to_a_spinning_thread) {
  signals_during_a_stop(spin_and_listen);
}

TEST(Signals, queued_during_a_stop_come_once_and_in_order_to_a_sleeping_thread) {
  signals_during_a_stop(sleep_and_listen);
}

TEST(Signals, a_stream_of_signals_across_many_stops) {
  constexpr int kCount = 3000;
  for (const auto& body : {spin_and_listen, sleep_and_listen}) {
    Child child(body);
    ASSERT_TRUE(child.hear());
    Child sender([&](Child&) {
      for (int value = 0; value < kCount; ++value) {
        queue_value(child.pid(), SIGRTMIN, value);
        if (value % 10 == 0) ::usleep(200);
      }
    });
    int stops = 0;
    for (; !sender.wait_for_state('Z', 1); ++stops) {
      const Status status = with_caller(child.pid(), map_and_unmap);
      ASSERT_TRUE(status) << status.error().message();
    }
    EXPECT_GT(stops, 5);
    expect_values(child, kCount);
  }
}

// Waits for events with a handler for SIGUSR1 and tells the errno of the wait.
void wait_for_events(Child& self) {
  handle(SIGUSR1, [](int, siginfo_t*, void*) {});
  const int epoll = ::epoll_create1(0);
  epoll_event event;
  self.tell(1);
  for (;;) {
    const int count = ::epoll_wait(epoll, &event, 1, -1);
    self.tell(count < 0 ? errno : 0);
  }
}

class EpollTarget : public testing::Test {
 protected:
  EpollTarget() : child_(wait_for_events) {
    child_.hear();
    child_.wait_for_state('S');
    test::nap(5);
  }

  // Sends the signal while the process is stopped, with or without a remote call after it.
  void send_while_stopped(int signal, bool remote_call) {
    const Status status = with_caller(child_.pid(), [&](RemoteCaller& caller) -> Status {
      child_.kill(signal);
      return remote_call ? map_and_unmap(caller) : Status();
    });
    ASSERT_TRUE(status) << status.error().message();
  }

  Child child_;
};

TEST_F(EpollTarget, own_signal_still_interrupts) {
  for (const bool remote_call : {false, true}) {
    send_while_stopped(SIGUSR1, remote_call);
    EXPECT_EQ(child_.hear(), EINTR);
    EXPECT_FALSE(child_.hear(50));
  }
}

TEST_F(EpollTarget, signal_without_effect_does_not_interrupt) {
  for (const bool remote_call : {false, true}) {
    send_while_stopped(SIGCHLD, remote_call);
    EXPECT_FALSE(child_.hear(50));
  }
}

TEST_F(EpollTarget, deadly_signal_kills) {
  const Status status = with_caller(child_.pid(), [&](RemoteCaller& caller) {
    child_.kill(SIGTERM);
    return map_and_unmap(caller);
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::kGone) << status.error().message();
  EXPECT_EQ(WTERMSIG(child_.wait()), SIGTERM);
}

TEST_F(EpollTarget, killed_during_remote_calls) {
  const Status status = with_caller(child_.pid(), [&](RemoteCaller& caller) -> Status {
    TRY_OK(map_and_unmap(caller));
    child_.kill(SIGKILL);
    return map_and_unmap(caller);
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::kGone) << status.error().message();
  EXPECT_EQ(WTERMSIG(child_.wait()), SIGKILL);
}

TEST_F(EpollTarget, stop_signal_during_remote_calls_stops_afterwards) {
  send_while_stopped(SIGSTOP, true);
  EXPECT_TRUE(child_.wait_for_state('T'));
  EXPECT_FALSE(child_.hear(20));
  child_.kill(SIGCONT);
  EXPECT_TRUE(child_.wait_for_state('S'));
}

}  // namespace
}  // namespace blip::proc
