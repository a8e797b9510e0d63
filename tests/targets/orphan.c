// SPDX-License-Identifier: MIT
// orphan: at the first round the process forks and ends; its child goes on with the rounds in its place.
#include "work.h"

int main(void) {
  say("ready");
  int forked = 0;
  while (next_round()) {
    if (forked++ == 0 && fork() != 0) _exit(0);
    for (unsigned long i = 0; i < 10; i++) work(i, "orphan");
    say("info child=%d round=%d", getpid(), forked);
  }
  return 0;
}
