// SPDX-License-Identifier: MIT
// blocked: one thread in each kind of blocking call. The round reports a call that came back before it was
// woken (a ptrace stop must not be seen), then wakes those that can be woken and checks what they return.
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "work.h"

struct Call {
  const char* name;
  long (*block)(struct Call*);
  void (*wake)(struct Call*);
  int fds[2], id, word;
  volatile int tid, returned, error;
  long result;
  pthread_t thread;
};

static const struct timespec kLong = {1000, 0};
static int epoll_of(struct Call* c) {
  struct epoll_event event = {.events = EPOLLIN};
  int fd = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(fd, EPOLL_CTL_ADD, c->fds[0], &event);
  return fd;
}
static sigset_t usr2(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}
static void long_timeout(struct Call* c) {
  struct timeval t = {1000, 0};
  setsockopt(c->fds[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
}

static long b_epoll(struct Call* c) {
  struct epoll_event e;
  return epoll_wait(epoll_of(c), &e, 1, -1);
}
static long b_epoll_to(struct Call* c) {
  struct epoll_event e;
  return epoll_wait(epoll_of(c), &e, 1, 1000000);
}
static long b_epoll_pwait2(struct Call* c) {
  struct epoll_event e;
  return syscall(SYS_epoll_pwait2, epoll_of(c), &e, 1, &kLong, 0, 8);
}
static long b_poll(struct Call* c) {
  struct pollfd p = {c->fds[0], POLLIN, 0};
  return poll(&p, 1, 1000000);
}
static long b_ppoll(struct Call* c) {
  struct pollfd p = {c->fds[0], POLLIN, 0};
  return ppoll(&p, 1, &kLong, 0);
}
static long b_select(struct Call* c) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(c->fds[0], &set);
  return select(c->fds[0] + 1, &set, 0, 0, 0);
}
static long b_read(struct Call* c) {
  char byte;
  return read(c->fds[0], &byte, 1);
}
static long b_recv(struct Call* c) {
  char byte;
  return recv(c->fds[0], &byte, 1, 0);
}
static long b_recv_to(struct Call* c) {
  long_timeout(c);
  return b_recv(c);
}
static long b_futex(struct Call* c) { return syscall(SYS_futex, &c->word, FUTEX_WAIT, 0, 0, 0, 0) + 1; }
static long b_futex_to(struct Call* c) {
  return syscall(SYS_futex, &c->word, FUTEX_WAIT, 0, &kLong, 0, 0) + 1;
}
static long b_sigwaitinfo(struct Call* c) {
  sigset_t s = usr2();
  (void)c;
  return sigwaitinfo(&s, 0) == SIGUSR2;
}
static long b_sigtimedwait(struct Call* c) {
  sigset_t s = usr2();
  (void)c;
  return sigtimedwait(&s, 0, &kLong) == SIGUSR2;
}
static long b_semop(struct Call* c) {
  struct sembuf b = {0, -1, 0};
  return semop(c->id, &b, 1) + 1;
}
static long b_semtimedop(struct Call* c) {
  struct sembuf b = {0, -1, 0};
  return semtimedop(c->id, &b, 1, &kLong) + 1;
}
static long b_msgrcv(struct Call* c) {
  struct {
    long t;
    char m[8];
  } m;
  return msgrcv(c->id, &m, 8, 0, 0);
}
static long b_nanosleep(struct Call* c) {
  (void)c;
  return nanosleep(&kLong, 0);
}
static long b_abs_sleep(struct Call* c) {
  struct timespec t;
  (void)c;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_sec += 1000;
  return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0);
}
static long b_pause(struct Call* c) {
  (void)c;
  return pause();
}

static void w_byte(struct Call* c) { require(write(c->fds[1], "x", 1) == 1, c->name); }
static void w_futex(struct Call* c) {
  require(syscall(SYS_futex, &c->word, FUTEX_WAKE, 1, 0, 0, 0) == 1, c->name);
}
static void w_signal(struct Call* c) { pthread_kill(c->thread, SIGUSR2); }
static void w_sem(struct Call* c) {
  struct sembuf b = {0, 1, 0};
  require(!semop(c->id, &b, 1), c->name);
}
static void w_msg(struct Call* c) {
  struct {
    long t;
    char m[8];
  } m = {1, "x"};
  require(!msgsnd(c->id, &m, 1, 0), c->name);
}

static struct Call calls[] = {
    {"epoll_wait", b_epoll, w_byte},
    {"epoll_wait_timeout", b_epoll_to, w_byte},
    {"epoll_pwait2", b_epoll_pwait2, w_byte},
    {"poll", b_poll, w_byte},
    {"ppoll", b_ppoll, w_byte},
    {"select", b_select, w_byte},
    {"read", b_read, w_byte},
    {"recv", b_recv, w_byte},
    {"recv_rcvtimeo", b_recv_to, w_byte},
    {"futex", b_futex, w_futex},
    {"futex_timeout", b_futex_to, w_futex},
    {"sigwaitinfo", b_sigwaitinfo, w_signal},
    {"sigtimedwait", b_sigtimedwait, w_signal},
    {"semop", b_semop, w_sem},
    {"semtimedop", b_semtimedop, w_sem},
    {"msgrcv", b_msgrcv, w_msg},
    {"nanosleep", b_nanosleep, 0},
    {"clock_nanosleep_abs", b_abs_sleep, 0},
    {"pause", b_pause, 0},
};
enum { kCalls = sizeof calls / sizeof calls[0] };

static __attribute__((noreturn)) void* thread(void* argument) {
  struct Call* c = argument;
  c->tid = (int)syscall(SYS_gettid);
  c->result = c->block(c);
  c->error = errno;
  c->returned = 1;
  for (;;) c->wake == w_signal ? b_sigwaitinfo(c) : sleep(1000);
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
  if (c->wake == w_byte) require(!socketpair(AF_UNIX, SOCK_STREAM, 0, c->fds), "socketpair");
  if (c->wake == w_sem) c->id = semget(IPC_PRIVATE, 1, 0600);
  if (c->wake == w_msg) c->id = msgget(IPC_PRIVATE, 0600);
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
