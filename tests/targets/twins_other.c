// SPDX-License-Identifier: MIT
#include "target.h"

static volatile unsigned long calls_of_other;  // a static of this file alone
static PROBED unsigned long twin(unsigned long i) {
  calls_of_other++;
  return i * 7 % 19;
}
PROBED unsigned long call_other_twin(unsigned long i) { return twin(i) + 1; }
