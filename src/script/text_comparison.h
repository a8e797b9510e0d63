// SPDX-License-Identifier: MIT
// Comparisons of texts in the program with those of an expression.
#pragma once

#include <string>

#include "script/values/containers.h"

namespace blip::script {

// Code that tells whether `a` equals the text, or begins with it if `is_prefix`.
Result<uint32_t> compare_text(Access& access, const Operand& a, const std::string& text, bool is_prefix,
                              const FindType& find_type);

}  // namespace blip::script
