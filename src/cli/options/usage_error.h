// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace blip::cli {

// The error of a command line that cannot be understood.
inline Error usage(std::string message) { return Error(ErrorKind::kUsage, std::move(message)); }

}  // namespace blip::cli
