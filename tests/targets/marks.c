// SPDX-License-Identifier: MIT
// marks TIMES: in each round, marks with arguments at several places, one of them only if somebody listens.
// `listened` is how often; `info listeners` what the semaphore counts. With "fork" a child does the same.
#include <sys/wait.h>

#include "mark.h"
#include "target.h"

SEMAPHORE(demo_costly_semaphore);

volatile unsigned long counter = 40;
double ratio = 0.5;

PROBED static unsigned long step(unsigned long i, const char* text) {
  MARK("demo", "begin", 0, "8@%0 8@%1 -4@%2", "nor"(i), "nor"(text), "nor"((int)-i));
  unsigned long sum = i * 3;
  if (i % 2 == 0) {
    MARK("demo", "step", 0, "8@%0 1@%1", "nor"(sum), "n"(200));
    sum += 7;
  } else {
    MARK("demo", "step", 0, "8@%0 1@%1", "nor"(sum), "n"(201));
    sum ^= 5;
  }
  counter += 2;
  MARK("demo", "memory", 0, "8@%0 8f@%1 4@%2", "m"(counter), "m"(ratio), "n"(-1));
  MARK("other", "end__all", 0, "", );
  return sum;
}

PROBED static unsigned long costly(unsigned long i) {
  if (demo_costly_semaphore == 0) return 0;
  MARK("demo", "costly", demo_costly_semaphore, "8@%0", "nor"(i * i));
  return 1;
}

static void work_on(unsigned long times) {
  static const char* const kTexts[] = {"zero", "one", "two"};
  unsigned long sum = 0, listened = 0, expected = 0;
  for (unsigned long i = 0; i < times; ++i) {
    sum += step(i, kTexts[i % 3]);
    expected += i % 2 == 0 ? i * 3 + 7 : (i * 3) ^ 5;
    listened += costly(i);
  }
  require(sum == expected, "the sum");
  say("info listened=%lu", listened);
  say("info listeners=%u", demo_costly_semaphore);
}

int main(int argc, char** argv) {
  const unsigned long times = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  const int forks = argc > 2 && strcmp(argv[2], "fork") == 0;
  say("times=%lu", times);
  say("ready");
  while (next_round()) {
    if (forks) {
      const pid_t child = fork();
      if (child == 0) {
        for (unsigned long i = 0; i < times; ++i) costly(i);
        _exit((int)demo_costly_semaphore);
      }
      int status = 0;
      require(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child");
      say("info child=%d", WEXITSTATUS(status));
    }
    work_on(times);
    say("done");
  }
  return 0;
}
