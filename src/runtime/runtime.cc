// SPDX-License-Identifier: MIT
// Runs inside the target, called by entry.S. No data, no calls out, general registers only.
#include "runtime/reserved.h"

extern "C" __attribute__((visibility("hidden"))) blip::runtime::Reserved blip_reserve_slot(
    uint8_t* control, uint32_t class_id) {
  return blip::runtime::packed(blip::ring::reserve(control, static_cast<uint16_t>(class_id)));
}
