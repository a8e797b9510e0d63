// SPDX-License-Identifier: MIT
#include "ring/ranges.h"

extern "C" __attribute__((visibility("hidden"))) uint64_t blip_find_valid_range(uint8_t* control,
                                                                                uint32_t hint,
                                                                                uint64_t addr) {
  return blip::ring::find_range(control, addr, hint);
}
