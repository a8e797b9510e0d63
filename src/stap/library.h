// SPDX-License-Identifier: MIT
#pragma once

#include "stap/module.h"
#include "stap/preprocessor.h"

namespace blip::stap {

// Adds the functions of the tapset to those of the module; its macros are the result.
Result<Macros> add_tapset(Module& module);

}  // namespace blip::stap
