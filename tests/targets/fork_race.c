// SPDX-License-Identifier: MIT
// fork_race N: per round N children at once, each calls work(its own pid, ...) a thousand times; so does the
// parent.
#include <sys/wait.h>

#include "work.h"

static void thousand(void) {
  for (int i = 0; i < 1000; i++) work((unsigned long)getpid(), "race");
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4;
  say("ready");
  while (next_round()) {
    for (int i = 0; i < n; i++) {
      pid_t child = fork();
      require(child >= 0, "fork");
      if (child == 0) {
        thousand();
        _exit(5);
      }
    }
    thousand();
    for (int i = 0; i < n; i++) {
      int status;
      require(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child's end");
    }
    say("calls=%d", 1000 * (n + 1));
    say("done");
  }
  return 0;
}
