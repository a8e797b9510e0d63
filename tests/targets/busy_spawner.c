// SPDX-License-Identifier: MIT
// busy_spawner: spawns and vforks all the time from the start, until the end of input, from two threads.
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;
static volatile int stop;
static unsigned long spawned;
static const char* self;

static void* thread(void* unused) {
  for (volatile unsigned long i = 0; !stop; i++) {
    char* const argv[] = {(char*)self, (char*)"child", 0};
    unsigned long expected = work(i, "spawn");
    pid_t child;
    int status;
    require(!posix_spawn(&child, self, 0, 0, argv, environ), "posix_spawn");
    require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child");
    child = vfork();
    if (child == 0) _exit(work(i, "spawn") == expected ? 5 : 6);
    require(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "a vfork child");
    __atomic_fetch_add(&spawned, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc > 1) return 7;
  self = argv[0];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) require(!pthread_create(&threads[i], 0, thread, 0), "pthread_create");
  while (__atomic_load_n(&spawned, __ATOMIC_RELAXED) < 4) usleep(100);
  say("ready");
  while (next_round()) say("done");
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
