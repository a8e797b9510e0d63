// SPDX-License-Identifier: MIT
// Where the kernel keeps the registers of user code, for its BPF programs: offsets in struct pt_regs.
#pragma once

#if defined(__x86_64__)
#include "machine/kernel_registers_x86_64.h"
#elif defined(__aarch64__)
#include "machine/kernel_registers_aarch64.h"
#else
#error "blip does not know struct pt_regs of this processor: write machine/kernel_registers_NAME.h"
#endif
