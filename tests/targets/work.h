// SPDX-License-Identifier: MIT
// The function most cases probe: rdi is the number of the call, s is not empty.
#pragma once
#include "target.h"

#ifdef __cplusplus
extern "C"
#endif
    PROBED unsigned long
    work(unsigned long i, const char* s) {
  unsigned long sum = i;
  do sum = sum * 31 + (unsigned char)*s;
  while (*++s);
  return sum ^ (sum >> 7);
}
