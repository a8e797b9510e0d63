// SPDX-License-Identifier: MIT
// A library with a variable of each thread.
#include "target.h"

__thread int of_thread = 7;
PROBED int in_library(int n) { return of_thread += n; }
