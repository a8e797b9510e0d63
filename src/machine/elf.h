// SPDX-License-Identifier: MIT
// What ELF files of the processor say: its number and the relocations that blip follows.
#pragma once

#include <elf.h>

#include <cstdint>

#if defined(__x86_64__)
#include "machine/elf_x86_64.h"
#elif defined(__aarch64__)
#include "machine/elf_aarch64.h"
#else
#error "blip does not know the relocations of this processor: write machine/elf_NAME.h"
#endif
