// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "base/addr.h"

namespace blip::x86 {

// True if a call of the function at `entry` runs only instructions of `code` (which lies at `base`) that can
// be seen from here and leave vector, MMX and x87 registers alone: every branch and call is followed, none of
// them is indirect.
bool uses_general_registers_only(std::span<const uint8_t> code, TargetAddr base, TargetAddr entry);

}  // namespace blip::x86
