// SPDX-License-Identifier: MIT
// vfork_waits: one thread is inside vfork, its child alive in the same memory, until the first round lets it
// go.
#include <pthread.h>
#include <sys/wait.h>

#include "work.h"

static int gate[2];
static volatile int in_child, status;

static void* thread(void* unused) {
  pid_t child = vfork();
  if (child == 0) {
    char c;
    in_child = 1;
    _exit(read(gate[0], &c, 1) == 1 ? 5 : 6);
  }
  int code = 0;
  require(waitpid(child, &code, 0) == child, "waitpid");
  status = code;
  for (;;) sleep(1000);
  return unused;
}

int main(void) {
  pthread_t t;
  require(!pipe(gate) && !pthread_create(&t, 0, thread, 0), "set-up");
  while (!in_child) usleep(100);
  say("ready");
  for (int round = 0; next_round(); round++) {
    if (round == 0) require(write(gate[1], "", 1) == 1, "write");
    while (!status) usleep(100);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 5, "the vfork child");
    say("calls=1 sum %lx", work(1, "vfork"));
    say("done");
  }
  return 0;
}
