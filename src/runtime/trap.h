// SPDX-License-Identifier: MIT
// The kernel's signal frame on x86-64, as far as the trap handler looks at it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blip::runtime {

struct SignalInfo {
  int32_t signal;
  int32_t error;
  int32_t code;
};

struct UserContext {
  uint8_t before[168];
  uint64_t rip;
  uint64_t flags;
  uint8_t between[112];
  uint64_t sigmask;
};
static_assert(offsetof(UserContext, sigmask) == 296);

}  // namespace blip::runtime
