// SPDX-License-Identifier: MIT
#include "ring/doomed.h"

extern "C" __attribute__((visibility("hidden"))) uint64_t blip_begin_system_call(uint8_t* control,
                                                                                 uint32_t number,
                                                                                 const uint64_t* args) {
  return blip::ring::begin_call(control, number, args);
}
