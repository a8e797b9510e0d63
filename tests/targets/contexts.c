// SPDX-License-Identifier: MIT
// contexts: calls known_registers (registers.s) with a known value in every register, on one CPU, under a
// known name.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target.h"

int fill_registers_and_call(void);
void known_registers(void);

int main(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  sched_setaffinity(0, sizeof set, &set);
  prctl(PR_SET_NAME, "known name");
  say("info pid=%d tid=%d entry=%#lx on_cpu=%d", getpid(), (int)syscall(SYS_gettid),
      (unsigned long)known_registers, sched_getcpu());
  say("ready");
  while (next_round()) {
    for (int i = 0; i < 5; i++) require(!fill_registers_and_call(), "every register");
    say("calls=5");
    say("done");
  }
  return 0;
}
