// SPDX-License-Identifier: MIT
// The calls of blocked.c: what waits, and what wakes it.
#pragma once
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "work.h"

// prepare runs in the main thread, block in a thread of its own; fds are what they make of them.
struct Call {
  const char* name;
  void (*prepare)(struct Call*);
  long (*block)(struct Call*);
  void (*wake)(struct Call*);  // 0: nothing does
  int fds[2], id, word;
  sem_t semaphore;
  aio_context_t aio;
  pthread_t thread;
  volatile int tid, returned, error;
  long result;
};

static const struct timespec kLong = {1000, 0};

static sigset_t usr2(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}

// ---- prepare ----

static void p_nothing(struct Call* c) { c->fds[0] = c->fds[1] = -1; }
static void p_socket(struct Call* c) { require(!socketpair(AF_UNIX, SOCK_STREAM, 0, c->fds), "socketpair"); }
static void p_socket_to(struct Call* c) {
  struct timeval t = {1000, 0};
  p_socket(c);
  setsockopt(c->fds[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
}
static void p_pipe(struct Call* c) { require(!pipe(c->fds), "pipe"); }
// Nothing more can be written into fds[0]; fds[1] is its other end.
static void p_full(struct Call* c) {
  static char block[4096];
  int ends[2] = {c->fds[0], c->fds[1]};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  while (write(ends[0], block, sizeof block) > 0) continue;
  fcntl(ends[0], F_SETFL, 0);
}
static void p_full_pipe(struct Call* c) {
  p_pipe(c);
  int read_end = c->fds[0];
  c->fds[0] = c->fds[1];
  c->fds[1] = read_end;
  p_full(c);
}
static void p_full_socket(struct Call* c) {
  p_socket(c);
  p_full(c);
}
static void p_epoll(struct Call* c) {
  struct epoll_event event = {.events = EPOLLIN};
  p_socket(c);
  c->id = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(c->id, EPOLL_CTL_ADD, c->fds[0], &event);
}
static void p_eventfd(struct Call* c) { c->fds[0] = c->fds[1] = eventfd(0, 0); }
static void p_memfd(struct Call* c) { c->fds[0] = (int)syscall(SYS_memfd_create, "blocked", 0); }
static void p_inotify(struct Call* c) {
  char path[64];
  snprintf(path, sizeof path, "watched%d", getpid());
  c->fds[1] = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
  c->fds[0] = inotify_init();
  require(c->fds[1] >= 0 && inotify_add_watch(c->fds[0], path, IN_MODIFY) > 0, "inotify_add_watch");
  unlink(path);
}
static void p_signalfd(struct Call* c) {
  sigset_t set = usr2();
  c->fds[0] = signalfd(-1, &set, 0);
}
static void p_timerfd(struct Call* c) { c->fds[0] = timerfd_create(CLOCK_MONOTONIC, 0); }
static void p_listen(struct Call* c) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  c->fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  require(!bind(c->fds[0], (struct sockaddr*)&address, sizeof(sa_family_t)) && !listen(c->fds[0], 1),
          "listen");
}
static void p_listen_to(struct Call* c) {
  struct timeval t = {1000, 0};
  p_listen(c);
  setsockopt(c->fds[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
}
static void p_semaphore(struct Call* c) { sem_init(&c->semaphore, 0, 0); }
static void p_sem(struct Call* c) { c->id = semget(IPC_PRIVATE, 1, 0600); }
static void p_msg(struct Call* c) { c->id = msgget(IPC_PRIVATE, 0600); }
static void p_mq(struct Call* c) {
  char name[64];
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  snprintf(name, sizeof name, "/blocked-%d", getpid());
  c->id = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
  require(c->id >= 0 && !mq_unlink(name), "mq_open");
}
// A child that holds a lock on fds[0] until a byte comes through fds[1], then ends.
static void p_child(struct Call* c) {
  int told[2], holds[2];
  char byte;
  struct flock lock = {.l_type = F_WRLCK};
  p_memfd(c);
  require(!pipe(told) && !pipe(holds), "pipe");
  c->id = fork();
  if (!c->id) {
    close(told[1]);
    fcntl(c->fds[0], F_SETLK, &lock);
    if (write(holds[1], "x", 1) == 1) (void)!read(told[0], &byte, 1);
    _exit(7);
  }
  require(read(holds[0], &byte, 1) == 1, "a child that holds a lock");
  close(told[0]);
  c->fds[1] = told[1];
}
static void p_flock(struct Call* c) {
  char path[64];
  p_memfd(c);
  snprintf(path, sizeof path, "/proc/self/fd/%d", c->fds[0]);
  c->fds[1] = open(path, O_RDWR);
  require(!flock(c->fds[1], LOCK_EX), "flock");
}
static void p_fifo(struct Call* c) {
  snprintf((char*)&c->semaphore, sizeof c->semaphore, "fifo%d", getpid());
  require(!mkfifo((char*)&c->semaphore, 0600), "mkfifo");
}
static void p_aio(struct Call* c) {
  p_memfd(c);
  require(!syscall(SYS_io_setup, 1, &c->aio), "io_setup");
}
// Where io_uring is forbidden, an eventfd stands in for it.
static void p_uring(struct Call* c) {
  struct io_uring_params parameters = {0};
  c->id = (int)syscall(SYS_io_uring_setup, 4, &parameters);
  if (c->id < 0) return p_eventfd(c);
  char* ring =
      mmap(0, parameters.sq_off.array + 64, PROT_READ | PROT_WRITE, MAP_SHARED, c->id, IORING_OFF_SQ_RING);
  struct io_uring_sqe* entries = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, c->id, IORING_OFF_SQES);
  require(ring != MAP_FAILED && entries != MAP_FAILED, "mmap of a ring");
  entries[0].opcode = IORING_OP_NOP;
  *(unsigned*)(ring + parameters.sq_off.array) = 0;
  __atomic_store_n((unsigned*)(ring + parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
}

// ---- block ----

static long b_epoll(struct Call* c) {
  struct epoll_event e;
  return epoll_wait(c->id, &e, 1, -1);
}
static long b_epoll_to(struct Call* c) {
  struct epoll_event e;
  return epoll_wait(c->id, &e, 1, 1000000);
}
static long b_epoll_pwait2(struct Call* c) {
  struct epoll_event e;
  return syscall(SYS_epoll_pwait2, c->id, &e, 1, &kLong, 0, 8);
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
static long b_pselect(struct Call* c) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(c->fds[0], &set);
  return pselect(c->fds[0] + 1, &set, 0, 0, &kLong, 0);
}
static long b_read(struct Call* c) {
  char bytes[256];
  return read(c->fds[0], bytes, sizeof bytes) > 0;
}
static long b_write(struct Call* c) { return write(c->fds[0], "x", 1); }
static long b_send(struct Call* c) { return send(c->fds[0], "x", 1, 0); }
static long b_recv(struct Call* c) {
  char byte;
  return recv(c->fds[0], &byte, 1, 0);
}
static long b_accept(struct Call* c) { return !close(accept(c->fds[0], 0, 0)); }
static long b_futex(struct Call* c) { return syscall(SYS_futex, &c->word, FUTEX_WAIT, 0, 0, 0, 0) + 1; }
static long b_futex_to(struct Call* c) {
  return syscall(SYS_futex, &c->word, FUTEX_WAIT, 0, &kLong, 0, 0) + 1;
}
static long b_futex_bitset(struct Call* c) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_sec += 1000;
  return syscall(SYS_futex, &c->word, FUTEX_WAIT_BITSET, 0, &t, 0, ~0u) + 1;
}
static long b_sem_wait(struct Call* c) { return sem_wait(&c->semaphore) + 1; }
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
static long b_sigsuspend(struct Call* c) {
  sigset_t s;
  (void)c;
  sigfillset(&s);
  return sigsuspend(&s);
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
static long b_mq_receive(struct Call* c) {
  char message[8];
  return mq_receive(c->id, message, sizeof message, 0);
}
static long b_wait4(struct Call* c) {
  int status;
  return wait4(c->id, &status, 0, 0) == c->id && WEXITSTATUS(status) == 7;
}
static long b_flock(struct Call* c) { return flock(c->fds[0], LOCK_EX) + 1; }
static long b_setlkw(struct Call* c) {
  struct flock lock = {.l_type = F_WRLCK};
  return fcntl(c->fds[0], F_SETLKW, &lock) + 1;
}
static long b_open(struct Call* c) { return !close(open((char*)&c->semaphore, O_RDONLY)); }
static long b_getevents(struct Call* c) {
  struct io_event event;
  return syscall(SYS_io_getevents, c->aio, 1, 1, &event, 0);
}
static long b_uring(struct Call* c) {
  if (c->id < 0) return b_read(c);
  return syscall(SYS_io_uring_enter, c->id, 0, 1, IORING_ENTER_GETEVENTS, 0, 0) + 1;
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

// ---- wake ----

static void w_byte(struct Call* c) { require(write(c->fds[1], "xxxxxxxx", 8) == 8, c->name); }
static void w_drain(struct Call* c) {
  static char block[1 << 20];
  require(read(c->fds[1], block, sizeof block) > 0, c->name);
}
static void w_timer(struct Call* c) {
  struct itimerspec soon = {.it_value = {0, 1}};
  require(!timerfd_settime(c->fds[0], 0, &soon, 0), c->name);
}
static void w_connect(struct Call* c) {
  struct sockaddr_un address;
  socklen_t size = sizeof address;
  require(!getsockname(c->fds[0], (struct sockaddr*)&address, &size), "getsockname");
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  require(!connect(client, (struct sockaddr*)&address, size) && !close(client), c->name);
}
static void w_futex(struct Call* c) {
  require(syscall(SYS_futex, &c->word, FUTEX_WAKE, 1, 0, 0, 0) == 1, c->name);
}
static void w_post(struct Call* c) { sem_post(&c->semaphore); }
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
static void w_mq(struct Call* c) { require(!mq_send(c->id, "x", 1, 0), c->name); }
static void w_child(struct Call* c) { require(write(c->fds[1], "x", 1) == 1, c->name); }
static void w_unlock(struct Call* c) { require(!flock(c->fds[1], LOCK_UN), c->name); }
static void w_open(struct Call* c) {
  require(!close(open((char*)&c->semaphore, O_WRONLY)), c->name);
  unlink((char*)&c->semaphore);
}
static void w_aio(struct Call* c) {
  static char byte;
  struct iocb request = {.aio_fildes = (unsigned)c->fds[0],
                         .aio_lio_opcode = IOCB_CMD_PREAD,
                         .aio_buf = (unsigned long)&byte,
                         .aio_nbytes = 1};
  struct iocb* requests[] = {&request};
  require(syscall(SYS_io_submit, c->aio, 1, requests) == 1, c->name);
}
static void w_uring(struct Call* c) {
  if (c->id < 0) return w_byte(c);
  require(syscall(SYS_io_uring_enter, c->id, 1, 0, 0, 0, 0) == 1, c->name);
}
