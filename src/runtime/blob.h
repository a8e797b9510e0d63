// SPDX-License-Identifier: MIT
// The freestanding code that pads call in the target: flat, position-independent, no relocations, no data.
// Copied as it is into an R-X mapping of the target. entries.h says what each entry expects.
#pragma once

#include <cstdint>
#include <span>

namespace blip::runtime {

std::span<const uint8_t> runtime_blob();

inline constexpr uint32_t kSlotSize = 64;

// kReserveOffset and so on: where an entry begins. kReserveStackUse: the bytes below its return address.
#define BLIP_ENTRY(name, number, symbol, part, stack)             \
  inline constexpr uint32_t k##name##Offset = number * kSlotSize; \
  inline constexpr uint32_t k##name##StackUse = stack;
#include "runtime/entries.h"
#undef BLIP_ENTRY

}  // namespace blip::runtime
