// SPDX-License-Identifier: MIT
// Uses variables of the C library while it reads its options.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char** environ;
extern char** __environ;

static char** list;
static FILE* out;

__attribute__((noipa)) void look(void) {
  __asm__ volatile("" : : "r"(optind), "r"(environ), "r"(__environ), "r"(stdout), "m"(list), "m"(out));
}

int main(int argc, char** argv) {
  setenv("NEW", "1", 1);
  list = environ;
  out = stdout;
  while (getopt(argc, argv, "ab:") != -1) look();
  return 0;
}
