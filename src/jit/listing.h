// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/addr.h"

namespace blip::jit {

// Generated code as text, one instruction per line with its offset, for golden files.
// Decoding stops at the int3 in front of a section's descriptor.
std::string listing(std::span<const uint8_t> code, TargetAddr at);

}  // namespace blip::jit
