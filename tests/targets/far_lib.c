// SPDX-License-Identifier: MIT
// A library of far_libs: NAME() works, and calls into libc.
#include <string.h>

char far_room[64 << 20];  // too much for the gaps between others

__attribute__((noinline)) unsigned long NAME(unsigned long i, const char* s) {
  char text[32];
  strncpy(text, s, sizeof text - 1);
  text[sizeof text - 1] = 0;
  return i * 31 + strlen(text);
}
