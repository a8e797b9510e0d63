// SPDX-License-Identifier: MIT
// The same with CLOCK_MONOTONIC. `function_addr` is code of the vDSO that was seen to use general registers
// only, or 0: a system call.
#include "ring/shadow.h"

extern "C" __attribute__((visibility("hidden"))) void* blip_enter_call_monotonic(uint8_t* control,
                                                                                 uint32_t id, uint64_t slot,
                                                                                 uint64_t,
                                                                                 uint64_t function_addr) {
  blip::ring::Shadow shadow(control, slot);
  auto* frame = shadow.enter(id);
  if (frame != nullptr) shadow.start(*frame, id, blip::ring::MonotonicStamper{function_addr}().time);
  return frame;
}
