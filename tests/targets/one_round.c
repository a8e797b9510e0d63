// SPDX-License-Identifier: MIT
// one_round N [PROGRAM ARGS...]: waits for a line, calls work() N times, and executes PROGRAM in its own place or ends.
#include "work.h"

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10, sum = 0;
  const char* way = getenv("WAY");
  if (way) say("info way%s=%d", way, (int)getpid());
  say("ready");
  require(next_round(), "the round");
  for (unsigned long i = 0; i < n; i++) sum += work(i, "once");
  say("calls=%lu checksum=%lx", n, sum);
  if (argc > 2) execv(argv[2], argv + 2);
  return argc > 2 ? 99 : 0;
}
