// SPDX-License-Identifier: MIT
// fork_lives: the first round forks a child that outlives the session and calls work() whenever it is told
// to.
#include <sys/wait.h>

#include "work.h"

int main(void) {
  int to_child[2], to_parent[2], status;
  char c = 0;
  require(!pipe(to_child) && !pipe(to_parent), "pipe");
  pid_t child = 0;
  say("ready");
  while (next_round()) {
    if (!child && !(child = fork())) {
      close(to_child[1]);
      while (read(to_child[0], &c, 1) == 1) {
        for (unsigned long i = 0; i < 10; i++) c += (char)work(i, "child");
        require(write(to_parent[1], &c, 1) == 1, "write");
      }
      _exit(5);
    }
    for (unsigned long i = 0; i < 10; i++) work(i, "parent");
    require(write(to_child[1], "", 1) == 1 && read(to_parent[0], &c, 1) == 1, "the child's answer");
    say("info child=%d", child);
    say("calls=20");
    say("done");
  }
  if (!child) return 0;
  close(to_child[1]);
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5,
          "the child's end");
  return 0;
}
