// SPDX-License-Identifier: MIT
// workers N: N children made before "ready", each with a name of its own; a round makes each call work() ten
// times, and the parent too.
#include <sys/prctl.h>
#include <sys/wait.h>

#include "work.h"

enum { kMost = 64 };
static int to_child[kMost][2], to_parent[kMost][2];
static pid_t children[kMost];

static char ten(void) {
  char c = 0;
  for (unsigned long i = 0; i < 10; i++) c += (char)work(i, "worker");
  return c;
}

static void serve(int w) {
  char c;
  char name[16];
  snprintf(name, sizeof name, "worker%d", w);
  prctl(PR_SET_NAME, name);
  for (int i = 0; i <= w; i++) close(to_child[i][1]);
  require(write(to_parent[w][1], "", 1) == 1, "write");
  while (read(to_child[w][0], &c, 1) == 1) {
    c = ten();
    require(write(to_parent[w][1], &c, 1) == 1, "write");
  }
  _exit(5);
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2;
  char c;
  require(n <= kMost, "too many workers");
  for (int w = 0; w < n; w++) {
    require(!pipe(to_child[w]) && !pipe(to_parent[w]), "pipe");
    children[w] = fork();
    if (children[w] == 0) serve(w);
    require(read(to_parent[w][0], &c, 1) == 1, "the worker's start");
    say("info worker%d=%d", w, children[w]);
  }
  say("ready");
  while (next_round()) {
    char mine = ten();
    for (int w = 0; w < n; w++) {
      require(write(to_child[w][1], "", 1) == 1, "write");
      require(read(to_parent[w][0], &c, 1) == 1 && c == mine, "the worker's answer");
    }
    say("calls=%d", 10 * (n + 1));
    say("done");
  }
  for (int w = 0; w < n; w++) {
    int status;
    close(to_child[w][1]);
    require(waitpid(children[w], &status, 0) == children[w] && WIFEXITED(status) && WEXITSTATUS(status) == 5,
            "the worker's end");
  }
  return 0;
}
