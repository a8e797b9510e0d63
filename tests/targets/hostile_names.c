// SPDX-License-Identifier: MIT
// hostile_names: arguments and locals whose names are those that blip itself uses in events.
#include "target.h"

struct point {
  int time, name;
};

PROBED int names(int name, int time, const char* tid, int depth, struct point missing, const char* cut) {
  volatile int ret = name + time + depth + missing.time + (cut != 0) + (tid != 0);
  {
    volatile int name = ret;
    ret = name;
  }
  return ret;
}

int main(void) {
  say("ready");
  while (next_round()) {
    for (int i = 0; i < 3; ++i)
      names(i, 2, "a thread", 4, (struct point){5, 6}, i == 1 ? (const char*)8 : "a text that is longer");
    say("calls=3");
    say("done");
  }
  return 0;
}
