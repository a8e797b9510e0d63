// SPDX-License-Identifier: MIT
// fork_hides: the first round forks a child that makes itself undumpable and calls work() ten times in each round, like
// its parent.
#include <sys/prctl.h>
#include <sys/wait.h>

#include "work.h"

static void ten(const char* who) {
  for (unsigned long i = 0; i < 10; i++) work(i, who);
}

static int child_life(int from_parent, int to_parent) {
  char c;
  require(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
  while (read(from_parent, &c, 1) == 1) {
    ten("hidden");
    require(write(to_parent, &c, 1) == 1, "write");
  }
  return 5;
}

int main(void) {
  int to_child[2], to_parent[2], status;
  char c = 0;
  require(!pipe(to_child) && !pipe(to_parent), "pipe");
  pid_t child = 0;
  say("ready");
  while (next_round()) {
    if (!child && !(child = fork())) {
      close(to_child[1]);
      _exit(child_life(to_child[0], to_parent[1]));
    }
    ten("parent");
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
