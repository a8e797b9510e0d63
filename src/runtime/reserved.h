// SPDX-License-Identifier: MIT
#pragma once

#include "ring/writer.h"

namespace blip::runtime {

// Comes back to entry.S in rax and rdx.
struct Reserved {
  uint64_t record_addr;
  uint64_t cpu_and_tid;  // cpu | tid << 32
};

inline Reserved packed(const ring::Reservation& r) {
  return {reinterpret_cast<uint64_t>(r.record), uint64_t{static_cast<uint32_t>(r.tid)} << 32 | r.cpu};
}

}  // namespace blip::runtime
