// SPDX-License-Identifier: MIT
// locks_up_later: a round calls work() before and behind a seccomp filter that kills, as programs with
// libseccomp do.
#include "lock_up.h"
#include "work.h"

int seccomp_load(void);

int main(void) {
  require(seccomp_load() == 0, "the library");
  say("ready");
  require(next_round(), "a round");
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 10; i++) sum += work(i, "before");
  lock_up(SECCOMP_RET_KILL_PROCESS);
  for (unsigned long i = 0; i < 10; i++) sum += work(i, "behind");
  say("calls=20 checksum=%lx", sum);
  say("done");
  return next_round();
}
