// SPDX-License-Identifier: MIT
// Replaces calls of the script's macros by their bodies, and names that #define gave a meaning.
#pragma once

#include "base/result.h"
#include "bt/declarations.h"

namespace blip::bt {

Status expand_macros(Declarations& script);

}  // namespace blip::bt
