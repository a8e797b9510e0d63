// SPDX-License-Identifier: MIT
// orphan [hide]: at the first round the process forks and ends; its child goes on with the rounds in its place. With
// "hide" it is a child that does not let other users, or its own, look at it.
#include <sys/prctl.h>

#include "work.h"

int main(int argc, char** argv) {
  (void)argv;
  say("ready");
  int forked = 0;
  while (next_round()) {
    if (forked++ == 0) {
      if (fork() != 0) _exit(0);
      if (argc > 1) require(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
    }
    for (unsigned long i = 0; i < 10; i++) work(i, "orphan");
    say("info child=%d round=%d", getpid(), forked);
  }
  return 0;
}
