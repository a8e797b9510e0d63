// SPDX-License-Identifier: MIT
// undumpable: a program that protects itself from being looked at, as ssh-agent does.
#include <sys/prctl.h>

#include "work.h"

int main(void) {
  require(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE");
  say("info pid=%d", getpid());
  return serve_calls("secret");
}
