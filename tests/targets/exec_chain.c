// SPDX-License-Identifier: MIT
// exec_chain PROGRAM ARGS...: starts PROGRAM in a child by fork and exec, by vfork and exec, by posix_spawn, each with
// the number of its way in the environment (WAY), and waits for it.
#include <spawn.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;

static pid_t by_fork(char** argv) {
  pid_t child = fork();
  if (child != 0) return child;
  execv(argv[0], argv);
  _exit(99);
}

static pid_t by_vfork(char** argv) {
  pid_t child = vfork();
  if (child != 0) return child;
  execv(argv[0], argv);
  _exit(99);
}

static pid_t by_spawn(char** argv) {
  pid_t child = 0;
  require(!posix_spawn(&child, argv[0], 0, 0, argv, environ), "posix_spawn");
  return child;
}

int main(int argc, char** argv) {
  pid_t (*const ways[])(char**) = {by_fork, by_vfork, by_spawn};
  char way[] = "WAY=0";
  require(argc > 1, "a program");
  say("ready");
  require(next_round(), "the round");
  for (int i = 0; i < 3; i++) {
    way[4] = (char)('0' + i);
    require(!putenv(way), "the environment");
    int status = 0;
    pid_t child = ways[i](argv + 1);
    require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
  }
  say("done");
  return 0;
}
