// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::script {

// How much of values one event may take.
struct Limits {
  uint32_t string_max = 256;  // bytes of a text
  uint32_t elements = 64;     // of an array or sequence
  uint32_t depth = 3;         // of structures in structures
  bool variants = true;       // of enums only the one that is there
  uint32_t bytes = 2048;      // of a record for all outputs together, lengths included, each at most 7 apart
};

}  // namespace blip::script
