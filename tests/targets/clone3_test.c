// SPDX-License-Identifier: MIT
// clone3_test: asks the kernel whether it knows clone3 the way libraries do, with no arguments at all.
#include "target.h"
#include "work.h"

PROBED long try_clone3(void* args, long size) {
  long result;
  __asm__ volatile("mov $435, %%eax\n\tsyscall"
                   : "=a"(result)
                   : "D"(args), "S"(size)
                   : "rcx", "r11", "memory");
  return result;
}

int main(void) {
  say("ready");
  while (next_round()) {
    for (int i = 0; i < 20; i++) require(try_clone3(0, 0) == -EINVAL, "clone3 without arguments");
    say("calls=20");
    say("done");
  }
  return 0;
}
