// SPDX-License-Identifier: MIT
// The language of all targets. A target prints "ready" when it is set up; each line on its stdin asks for one
// round of work, answered by lines of key=value and "done"; end of input ends it. Lines that begin with
// "info" may differ from run to run (pids, addresses). Nothing here allocates memory, so that maps stay as
// they were.
#pragma once
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__clang__)
#define PROBED __attribute__((noinline, used))
#else
#define PROBED __attribute__((noipa, used))
#endif

static inline __attribute__((format(printf, 1, 2))) void say(const char* format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  line[n++] = '\n';
  if (write(1, line, (size_t)n) != n) _exit(90);
}

// Waits for a line (or for a signal that interrupts the wait); false at the end of input.
static inline int next_round(void) {
  char c;
  for (;;) {
    ssize_t n = read(0, &c, 1);
    if (n == 0) return 0;
    if (n < 0) {
      if (errno == EINTR) return 1;
      _exit(91);
    }
    if (c == '\n') return 1;
  }
}

// The target found that its own result is wrong: blip has harmed it.
static inline void require(int right, const char* what) {
  if (right) return;
  say("WRONG: %s (errno %d)", what, errno);
  _exit(92);
}
