// SPDX-License-Identifier: MIT
// zombie: has a child that has ended and is not waited for.
#include <sys/wait.h>

#include "target.h"

int main(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  say("info zombie=%d", child);
  say("ready");
  while (next_round()) say("done");
  return 0;
}
