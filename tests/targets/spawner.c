// SPDX-License-Identifier: MIT
// spawner N: per round N vforks and N posix_spawns. The vfork child calls work() in its parent's memory
// before it ends.
#include <spawn.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;

static void spawn_child(const char* self) {
  char* const argv[] = {(char*)self, (char*)"child", 0};
  pid_t child;
  int status;
  require(!posix_spawn(&child, self, 0, 0, argv, environ), "posix_spawn");
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
          "a spawned child");
}

static void vfork_child(unsigned long i) {
  volatile unsigned long expected = work(i, "vfork");
  int status;
  pid_t child = vfork();
  if (child == 0) _exit(work(i, "vfork") == expected ? 5 : 6);
  require(child > 0 && waitpid(child, &status, 0) == child, "vfork");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a vfork child's sum");
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "child")) return 7;
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 50;
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) {
      vfork_child(i);
      spawn_child(argv[0]);
    }
    say("calls=%lu", 2 * n);
    say("done");
  }
  return 0;
}
