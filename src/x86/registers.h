// SPDX-License-Identifier: MIT
// General registers by their numbers: 0 rax .. 15 r15.
#pragma once

#include <cstdint>

namespace blip::x86 {

inline constexpr uint8_t kRsp = 4, kRbp = 5;
inline constexpr uint8_t kNoRegister = 0xff;

}  // namespace blip::x86
