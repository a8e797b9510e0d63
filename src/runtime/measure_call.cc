// SPDX-License-Identifier: MIT
// The slow way of a measured return, whose frame holds the latency by now. No data, no calls out, general
// registers only.
#include "abi/shadow.h"
#include "ring/add_latency.h"

extern "C" __attribute__((visibility("hidden"))) void blip_measure_call(uint8_t* control, uint32_t id,
                                                                        const blip::abi::ShadowFrame* frame) {
  blip::ring::add_latency(control, id, frame->time);
}
