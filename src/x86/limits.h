// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::x86 {

// The most code that is looked at as one piece: a function with its parts. Analyses remember some hundred
// bytes of an instruction, and files may call hundreds of megabytes a function (a symbol without a size in a
// stripped program, a hostile size). Nothing beyond this is followed: it counts as unknown.
inline constexpr uint64_t kMostFunctionCode = 1 << 20;

}  // namespace blip::x86
