// SPDX-License-Identifier: MIT
// The library of lib_calls.
#include "target.h"

PROBED unsigned long lib_helper(unsigned long i) { return i % 17; }
PROBED unsigned long lib_work(unsigned long i) { return lib_helper(i) * 5 + i; }
