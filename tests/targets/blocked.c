// SPDX-License-Identifier: MIT
// blocked: one thread in each kind of blocking call. The round reports a call that came back before it was
// woken (a ptrace stop must not be seen), then wakes those that can be woken and checks what they return.
#include "blocked_calls.h"

static struct Call calls[] = {
    {"wait4", p_child, b_wait4, w_child},
    {"fcntl_setlkw", p_child, b_setlkw, w_child},
    {"epoll_wait", p_epoll, b_epoll, w_byte},
    {"epoll_wait_timeout", p_epoll, b_epoll_to, w_byte},
    {"epoll_pwait2", p_epoll, b_epoll_pwait2, w_byte},
    {"poll", p_socket, b_poll, w_byte},
    {"ppoll", p_socket, b_ppoll, w_byte},
    {"select", p_socket, b_select, w_byte},
    {"pselect", p_socket, b_pselect, w_byte},
    {"read_pipe", p_pipe, b_read, w_byte},
    {"read_eventfd", p_eventfd, b_read, w_byte},
    {"read_inotify", p_inotify, b_read, w_byte},
    {"read_signalfd", p_signalfd, b_read, w_signal},
    {"read_timerfd", p_timerfd, b_read, w_timer},
    {"write_pipe", p_full_pipe, b_write, w_drain},
    {"send", p_full_socket, b_send, w_drain},
    {"recv", p_socket, b_recv, w_byte},
    {"recv_rcvtimeo", p_socket_to, b_recv, w_byte},
    {"accept", p_listen, b_accept, w_connect},
    {"accept_rcvtimeo", p_listen_to, b_accept, w_connect},
    {"futex", p_nothing, b_futex, w_futex},
    {"futex_timeout", p_nothing, b_futex_to, w_futex},
    {"futex_bitset", p_nothing, b_futex_bitset, w_futex},
    {"sem_wait", p_semaphore, b_sem_wait, w_post},
    {"sigwaitinfo", p_nothing, b_sigwaitinfo, w_signal},
    {"sigtimedwait", p_nothing, b_sigtimedwait, w_signal},
    {"semop", p_sem, b_semop, w_sem},
    {"semtimedop", p_sem, b_semtimedop, w_sem},
    {"msgrcv", p_msg, b_msgrcv, w_msg},
    {"mq_receive", p_mq, b_mq_receive, w_mq},
    {"flock", p_flock, b_flock, w_unlock},
    {"open_fifo", p_fifo, b_open, w_open},
    {"io_getevents", p_aio, b_getevents, w_aio},
    {"io_uring_enter", p_uring, b_uring, w_uring},
    {"nanosleep", p_nothing, b_nanosleep, 0},
    {"clock_nanosleep_abs", p_nothing, b_abs_sleep, 0},
    {"pause", p_nothing, b_pause, 0},
    {"sigsuspend", p_nothing, b_sigsuspend, 0},
};
enum { kCalls = sizeof calls / sizeof calls[0] };

static __attribute__((noreturn)) void* thread(void* argument) {
  struct Call* c = argument;
  c->tid = (int)syscall(SYS_gettid);
  c->result = c->block(c);
  c->error = errno;
  c->returned = 1;
  for (;;) c->block == b_sigwaitinfo || c->block == b_sigtimedwait ? b_sigwaitinfo(c) : sleep(1000);
}

static int asleep(int tid) {
  char path[64], stat[64] = {0};
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  int fd = open(path, O_RDONLY);
  ssize_t n = read(fd, stat, sizeof stat - 1);
  close(fd);
  return n > 0 && strstr(stat, ") S");
}

static void start(struct Call* c) {
  require(!pthread_create(&c->thread, 0, thread, c), "pthread_create");
  while (!c->tid || !asleep(c->tid)) usleep(1000);
}

static void wake_and_check(struct Call* c) {
  if (!c->wake) return;
  c->wake(c);
  while (!c->returned || !asleep(c->tid)) usleep(100);
  if (c->wake == w_sem) semctl(c->id, 0, IPC_RMID);
  if (c->wake == w_msg) msgctl(c->id, IPC_RMID, 0);
  say("%s returned %ld", c->name, c->result);
}

int main(void) {
  sigset_t set = usr2();
  pthread_sigmask(SIG_BLOCK, &set, 0);
  _Static_assert(kCalls == 38, "the table of the catalogue");
  for (int i = 0; i < kCalls; i++) calls[i].prepare(&calls[i]);
  for (int i = 0; i < kCalls; i++) start(&calls[i]);
  say("ready");
  if (!next_round()) return 0;
  for (int i = 0; i < kCalls; i++)
    if (calls[i].returned)
      say("EARLY: %s returned %ld errno %d", calls[i].name, calls[i].result, calls[i].error);
  for (int i = 0; i < kCalls; i++)
    if (!calls[i].returned) wake_and_check(&calls[i]);
  say("calls=1 sum %lx", work(1, "blocked"));
  say("done");
  while (next_round()) continue;
  return 0;
}
