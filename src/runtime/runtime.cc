// SPDX-License-Identifier: MIT
// Runs inside the target, called by entry.S. No data, no calls out, general registers only.
#include "ring/writer.h"

namespace {

// Comes back in rax and rdx.
struct Reserved {
  uint64_t record_addr;
  uint64_t cpu_and_tid;  // cpu | tid << 32
};

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Reserved blip_reserve_slot(uint8_t* control,
                                                                            uint32_t class_id) {
  const blip::ring::Reservation r = blip::ring::reserve(control, static_cast<uint16_t>(class_id));
  return {reinterpret_cast<uint64_t>(r.record), uint64_t{static_cast<uint32_t>(r.tid)} << 32 | r.cpu};
}
