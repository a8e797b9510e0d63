// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::ring {

// The results of one drain. Only a target that scribbles on the shared memory makes malformed differ from
// zero.
struct DrainStats {
  uint64_t records = 0;          // handed to the sink
  uint64_t bytes = 0;            // of those records
  uint64_t discarded = 0;        // shared ring: hits given up by the consumer (late or never committed)
  uint64_t malformed = 0;        // places where the data made no sense and was cut
  uint64_t malformed_bytes = 0;  // thrown away there

  DrainStats& operator+=(const DrainStats& other) {
    records += other.records;
    bytes += other.bytes;
    discarded += other.discarded;
    malformed += other.malformed;
    malformed_bytes += other.malformed_bytes;
    return *this;
  }
};

}  // namespace blip::ring
