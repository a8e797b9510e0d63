// SPDX-License-Identifier: MIT
// The slow way of an entry whose return is probed; see ring/shadow.h. No data, no calls out, general
// registers only.
#include "machine/instructions.h"
#include "ring/shadow.h"

using blip::ring::Shadow;

extern "C" __attribute__((visibility("hidden"))) void* blip_enter_call(uint8_t* control, uint32_t id,
                                                                       uint64_t slot) {
  Shadow shadow(control, slot);
  auto* frame = shadow.enter(id);
  if (frame != nullptr) shadow.start(*frame, id, blip::machine::read_counter());
  return frame;
}
