// SPDX-License-Identifier: MIT
// sandboxed ACTION: a seccomp filter (lock_up.h) kills (ACTION kill) or makes calls fail with EPERM (ACTION
// errno).
#include "lock_up.h"
#include "work.h"

int main(int argc, char** argv) {
  lock_up(argc > 1 && !strcmp(argv[1], "errno") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS);
  return serve_calls("sandbox");
}
