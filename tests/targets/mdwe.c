// SPDX-License-Identifier: MIT
// mdwe: the kernel refuses it memory that is, or becomes, writable and executable (PR_SET_MDWE), and it has
// no free file descriptor.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "work.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

int main(int argc, char** argv) {
  int refused = prctl(PR_SET_MDWE, 1, 0, 0, 0);
  if (argc > 1 && !strcmp(argv[1], "fds")) {
    struct rlimit limit = {3, 3};
    require(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  }
  say("info mdwe=%d", refused);
  return serve_calls("mdwe");
}
