// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::x86 {

// Code that is looked at as one: a function, with its parts. What analyses remember of an instruction takes
// some hundred bytes, and files may call hundreds of megabytes a function (a symbol without a size in a
// stripped program, a hostile size). Of more than this nothing is followed: it counts as unknown.
inline constexpr uint64_t kMostFunctionCode = 1 << 20;

}  // namespace blip::x86
