// SPDX-License-Identifier: MIT
// undumpable: a program that protects itself from being looked at, as ssh-agent does.
#include <sys/prctl.h>

#include "work.h"

int main(void) {
  require(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
  say("info pid=%d", getpid());
  say("ready");
  while (next_round()) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 100; i++) sum += work(i, "secret");
    say("calls=100 checksum=%lx", sum);
    say("done");
  }
  return 0;
}
