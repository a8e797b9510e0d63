// SPDX-License-Identifier: MIT
// The same with CLOCK_MONOTONIC. `function_addr` is code of the vDSO that was seen to use general registers
// only.
#include "runtime/reserved.h"

extern "C" __attribute__((visibility("hidden"))) blip::runtime::Reserved blip_reserve_slot_monotonic(
    uint8_t* control, uint32_t class_id, uint64_t function_addr) {
  return blip::runtime::packed(blip::ring::reserve(control, static_cast<uint16_t>(class_id),
                                                   blip::ring::MonotonicStamper{function_addr}));
}
