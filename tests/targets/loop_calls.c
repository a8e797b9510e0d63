// SPDX-License-Identifier: MIT
// loop_calls [N]: N calls of work() per round. A SIGUSR1 asks for a round too.
#include "work.h"

static void on_usr1(int signal) { (void)signal; }

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000, sum = 0, total = 0;
  struct sigaction action = {.sa_handler = on_usr1};
  sigaction(SIGUSR1, &action, 0);
  say("info pid=%d work=%#lx main=%#lx", getpid(), (unsigned long)work, (unsigned long)main);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum = sum * 3 + work(i, "s");
    total += n;
    say("calls=%lu total=%lu checksum=%lx", n, total, sum);
    say("done");
  }
  return 0;
}
