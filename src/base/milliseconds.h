// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace blip {

inline double to_ms(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::milli>(t).count();
}

}  // namespace blip
