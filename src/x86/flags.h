// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "base/addr.h"

namespace blip::x86 {

// Whether code running from `start` may read a status flag before writing it. `code` lies at `base` and holds
// `start`. Follows direct jumps inside `code`; leaving it, or call, ret and indirect jumps, end a path with
// dead flags, as the C ABI has it. True when in doubt: undecodable bytes, or no answer within a few dozen
// instructions.
bool flags_live(std::span<const uint8_t> code, TargetAddr base, TargetAddr start);

}  // namespace blip::x86
