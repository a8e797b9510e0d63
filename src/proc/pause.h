// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include "base/error.h"

namespace blip::proc {

// A stop was given up because it would have been longer than allowed (StopLimits::pause): another one may do.
inline Error pause_exceeded(std::string message) {
  return Error(ErrorKind::kTimeout, std::move(message), ETIME);
}
inline bool is_pause_exceeded(const Error& error) {
  return error.kind() == ErrorKind::kTimeout && error.errno_value() == ETIME;
}

}  // namespace blip::proc
