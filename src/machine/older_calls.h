// SPDX-License-Identifier: MIT
// The numbers of system calls that newer processors do not have any more (-1 there), and how code loads a number.
#pragma once

#include <sys/syscall.h>

#if defined(__x86_64__)
#include "machine/older_calls_x86_64.h"
#elif defined(__aarch64__)
#include "machine/older_calls_aarch64.h"
#else
#error "blip does not know the system calls of this processor: write machine/older_calls_NAME.h"
#endif
