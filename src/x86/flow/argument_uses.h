// SPDX-License-Identifier: MIT
// Finds the registers that a function takes from its caller, as its code shows.
#pragma once

#include <cstdint>
#include <span>

namespace blip::x86 {

struct ArgumentUses {
  uint16_t general = 0;  // bit n: general register n
  uint16_t vectors = 0;  // bit n: xmm n

  bool operator==(const ArgumentUses&) const = default;
};

// The registers that an instruction certainly reads before another one writes them, on some way from the
// beginning of `code`. Registers that are only passed on to another function are not among them. A return
// reads `at_return`.
ArgumentUses argument_uses(std::span<const uint8_t> code, const ArgumentUses& at_return = {});

// The size of the largest vector registers that the instructions of `code` name; 0: none.
uint32_t widest_vector(std::span<const uint8_t> code);

}  // namespace blip::x86
