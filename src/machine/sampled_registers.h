// SPDX-License-Identifier: MIT
// The registers of user code that the kernel can put into a sample (perf_event_open(2), sample_regs_user): their bits, and which
// is which.
#pragma once

#if defined(__x86_64__)
#include "machine/sampled_registers_x86_64.h"
#elif defined(__aarch64__)
#include "machine/sampled_registers_aarch64.h"
#else
#error "blip does not know the sampled registers of this processor: write machine/sampled_registers_NAME.h"
#endif
