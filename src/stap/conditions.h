// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "stap/settings.h"
#include "stap/token.h"

namespace blip::stap {

// Whether the condition `left sign right` of a %( holds here.
Result<bool> holds(const Settings& settings, const Token& left, const Token& sign, const Token& right);

}  // namespace blip::stap
