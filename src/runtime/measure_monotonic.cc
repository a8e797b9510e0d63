// SPDX-License-Identifier: MIT
// The same with CLOCK_MONOTONIC: the frame holds the time of the entry. `function_addr` is code of the vDSO
// that was seen to use general registers only, or 0: a system call.
#include "abi/shadow.h"
#include "ring/add_latency.h"

extern "C" __attribute__((visibility("hidden"))) void blip_measure_call_monotonic(
    uint8_t* control, uint32_t id, const blip::abi::ShadowFrame* frame, uint64_t, uint64_t function_addr) {
  const uint64_t now = blip::ring::MonotonicStamper{function_addr}().time << blip::abi::kClassBits;
  blip::ring::add_latency(control, id, (now - frame->time) >> blip::abi::kClassBits);
}
