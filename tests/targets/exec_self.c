// SPDX-License-Identifier: MIT
// exec_self N: a round calls work() N times, then the process executes itself anew.
#include "work.h"

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000, sum = 0;
  int again = argc > 2;
  say(again ? "again" : "ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum += work(i, "exec");
    say("calls=%lu checksum=%lx", n, sum);
    if (!again) execl(argv[0], argv[0], argc > 1 ? argv[1] : "1000", "again", (char*)0);
    say("done");
  }
  return 0;
}
