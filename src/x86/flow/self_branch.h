// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "base/addr.h"

namespace blip::x86 {

// True if a jump of the function (whose bytes lie at `addr`) leads back to its own entry at `entry`, so that
// its red zone may be in use there. If decoding fails the answer is yes: skipping the red zone is always
// safe.
bool has_self_branch(std::span<const uint8_t> bytes, TargetAddr addr, TargetAddr entry);

}  // namespace blip::x86
