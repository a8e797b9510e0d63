// SPDX-License-Identifier: MIT
#include "ring/ranges.h"

extern "C" __attribute__((visibility("hidden"))) blip::abi::Reading* blip_find_own_reading(uint8_t* control,
                                                                                           uint32_t,
                                                                                           uint64_t thread) {
  blip::abi::RangeControl* ranges = blip::ring::own_range_control(control);
  return ranges == nullptr ? nullptr : blip::ring::find_reading(*ranges, thread);
}
