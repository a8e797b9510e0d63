// SPDX-License-Identifier: MIT
// loop_calls with work() in a segment that is writable and executable, as some protectors and old linkers
// make it.
#include "target.h"
#undef PROBED
#define PROBED __attribute__((noipa, used, section(".wtext,\"awx\",@progbits#")))
#include "loop_calls.c"
