// SPDX-License-Identifier: MIT
// The slow ways of a return; see ring/shadow.h. No data, no calls out, general registers only.
#include "ring/shadow.h"

using blip::ring::Shadow;

extern "C" __attribute__((visibility("hidden"))) void* blip_find_entered(uint8_t* control, uint32_t id,
                                                                         uint64_t slot) {
  return Shadow(control, slot).find_entered(id);
}

extern "C" __attribute__((visibility("hidden"))) void blip_leave_call(uint8_t* control, uint32_t,
                                                                      blip::abi::ShadowFrame* frame) {
  Shadow(control, frame->slot).leave(*frame);
}
