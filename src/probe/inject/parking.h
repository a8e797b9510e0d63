// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::probe {

// Says whether a program switches stacks by itself, so that interrupted code may wait where no thread leads
// to. The values are in DataHeader::parking.
enum class Parking : uint32_t {
  kUnknown = 0,  // nothing says so: as the threads look when they are stopped
  kLikely = 1,   // it knows swapcontext, or something of the kind
  kNever = 2,    // Go: its scheduler parks no goroutine whose PC is not in Go code
};

}  // namespace blip::probe
