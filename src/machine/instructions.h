// SPDX-License-Identifier: MIT
// What needs an instruction of its own: the cycle counter, the thread pointer, the CPU's number, system calls without a C
// library (errno is not touched). Freestanding: also runs inside the target.
#pragma once

#if defined(__x86_64__)
#include "machine/instructions_x86_64.h"
#elif defined(__aarch64__)
#include "machine/instructions_aarch64.h"
#else
#error "blip does not know the instructions of this processor: write machine/instructions_NAME.h"
#endif
