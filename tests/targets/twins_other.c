// SPDX-License-Identifier: MIT
#include "target.h"

static PROBED unsigned long twin(unsigned long i) { return i * 7 % 19; }
PROBED unsigned long call_other_twin(unsigned long i) { return twin(i) + 1; }
