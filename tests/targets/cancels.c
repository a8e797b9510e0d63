// SPDX-License-Identifier: MIT
// cancels N: N threads, one after the other, are cancelled while they wait in read(). glibc unwinds them from
// where they wait, and they have objects to destroy; musl looks whether they wait where it expects them to.
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "target.h"

static int never[2];
static unsigned long destroyed;
static volatile pid_t waiter;

static void destroy(int* guard) {
  (void)guard;
  destroyed++;
}

PROBED void wait_forever(void) {
  __attribute__((cleanup(destroy))) int guard = 0;
  char c;
  waiter = (pid_t)syscall(SYS_gettid);
  require(read(never[0], &c, 1) == 1, "nobody writes");
}

static void* thread(void* unused) {
  wait_forever();
  return unused;
}

// True if the thread waits, which it does only in read().
static int is_asleep(pid_t tid) {
  char path[64], stat[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  const int fd = open(path, O_RDONLY);
  require(fd >= 0, "open stat");
  const ssize_t n = read(fd, stat, sizeof stat - 1);
  require(n > 0, "read stat");
  close(fd);
  stat[n] = 0;
  return strstr(stat, ") S ") != NULL;
}

static void cancel_one(void) {
  pthread_t id;
  void* result;
  waiter = 0;
  require(pthread_create(&id, NULL, thread, NULL) == 0, "pthread_create");
  while (waiter == 0 || !is_asleep(waiter)) usleep(100);
  require(pthread_cancel(id) == 0, "pthread_cancel");
  require(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED, "a thread was not cancelled");
}

int main(int argc, char** argv) {
  require(argc == 2 && pipe(never) == 0, "usage: cancels N");
  const unsigned long count = strtoul(argv[1], NULL, 10);
  cancel_one();  // loads libgcc_s
  destroyed = 0;
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < count; i++) cancel_one();
#ifdef __GLIBC__
    require(destroyed == count, "a cancelled thread did not destroy its objects");
#endif
    destroyed = 0;
    say("calls=%lu", count);
    say("done");
  }
  return 0;
}
