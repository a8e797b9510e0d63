// SPDX-License-Identifier: MIT
// forker N: per round N children one after another, each calls work() ten times, and so does the parent.
#include <sys/wait.h>

#include "work.h"

static unsigned long ten(unsigned long i) {
  unsigned long sum = 0;
  for (unsigned long k = 0; k < 10; k++) sum = sum * 3 + work(i + k, "fork");
  return sum;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 50;
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) {
      unsigned long expected = ten(i);
      int status = 0;
      pid_t child = fork();
      if (child == 0) _exit(ten(i) == expected ? 5 : 6);
      require(child > 0 && waitpid(child, &status, 0) == child, "fork");
      require(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child's sum");
    }
    say("calls=%lu", 20 * n);
    say("done");
  }
  return 0;
}
